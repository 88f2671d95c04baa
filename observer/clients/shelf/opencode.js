
// OpenCode and Kilo call every export of this file as a plugin: there is one.
export const Observer = async ({ directory }) => {
  const sessions = new Map()

  const sessionOf = (id) => {
    if (!sessions.has(id)) {
      sessions.set(id, { parent: "", said: "", since: Date.now(), counts: new Map() })
    }
    return sessions.get(id)
  }
  // A message is reported again as it grows; what a turn has counted is kept as null. A fork
  // reports copies of older messages.
  const counted = ({ id, role, sessionID, tokens, time }) => {
    const session = sessions.get(sessionID)
    if (role !== "assistant" || !tokens || !session || time?.created < session.since) return
    const { counts } = sessionOf(session.parent || sessionID)
    if (counts.get(id) !== null) counts.set(id, tokens)
  }
  const usageOf = ({ counts }) => {
    const usage = { input: 0, output: 0, cache_read: 0, cache_write: 0 }
    for (const [id, tokens] of counts) {
      if (tokens === null) continue
      usage.input += tokens.input
      usage.output += tokens.output + (tokens.reasoning ?? 0)
      usage.cache_read += tokens.cache?.read ?? 0
      usage.cache_write += tokens.cache?.write ?? 0
      counts.set(id, null)
    }
    return usage
  }
  // Asked once a session, before its first prompt is reported: it would name this session as an
  // earlier one. Another text would void what the provider caches of the prompt.
  const contextOf = (session) => {
    if (!session.parent) session.context ??= context(directory)
    return session.context
  }
  const report = (event, payload) => post(event, { ...payload, directory }, directory)

  const onEvent = {
    "session.created": (event) => {
      const { id, parentID } = event.properties.info
      sessionOf(id).parent = parentID ?? ""
      contextOf(sessionOf(id))
      report(event.type, event)
    },
    "session.idle": (event) => {
      const session = sessionOf(event.properties.sessionID)
      // What a sub-agent said last is the result of the tool that started it.
      if (session.parent) return
      report(event.type, { ...event, text: session.said, usage: usageOf(session) })
    },
    "session.compacted": (event) => {
      const session = sessionOf(event.properties.sessionID)
      report(event.type, { ...event, text: session.said })
      session.said = ""
    },
    "message.updated": (event) => counted(event.properties.info),
    "session.error": (event) => report(event.type, event),
    // A tool that fails or is denied never comes to tool.execute.after.
    "message.part.updated": (event) => {
      const { part } = event.properties
      if (part.type === "tool" && part.state.status === "error") report("tool.error", event)
    },
  }

  return {
    event: guarded(async ({ event }) => onEvent[event.type]?.(event)),

    "chat.message": guarded(async (input, output) => {
      const id = input.sessionID
      if (!sessions.has(id)) report("session.resumed", { input })
      const { parent } = sessionOf(id)
      await contextOf(sessionOf(id))
      report("chat.message", { input, output, parentID: parent, directory })
    }),

    "tool.execute.after": guarded(async (input, output) => {
      const payload = { input, output, directory }
      report("tool.execute.after", payload)
      if (input.tool === "bash" && typeof output.output === "string") {
        const text = await recall("tool.execute.after", payload, directory)
        if (text) output.output += `\n\n${text}`
      }
    }),

    "experimental.text.complete": guarded(async (input, output) => {
      sessionOf(input.sessionID).said = output.text
    }),

    "experimental.chat.system.transform": guarded(async (input, output) => {
      const isTitle = output.system[0]?.startsWith("You are a title generator")
      if (!input.sessionID || isTitle) return
      const session = sessionOf(input.sessionID)
      const text = await contextOf(session)
      if (text) output.system.push(text)
    }),

    "shell.env": guarded(async (input, output) => {
      if (input.sessionID) output.env[`${CLIENT.toUpperCase()}_SESSION_ID`] = input.sessionID
    }),

    dispose: guarded(async () => {
      for (const sessionID of sessions.keys()) {
        report("dispose", { properties: { sessionID } })
      }
      await allReported()
    }),
  }
}
