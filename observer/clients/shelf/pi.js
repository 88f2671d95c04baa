
export default function (pi) {
  const contexts = new Map()

  const report = (event, given, ctx) => {
    const sessionId = ctx.sessionManager.getSessionId()
    const payload = { event: { type: event, ...given }, cwd: ctx.cwd, sessionId }
    post(event, payload, ctx.cwd)
    return payload
  }
  const on = (event, handler) => pi.on(event, guarded(handler))

  on("session_start", (event, ctx) => {
    // The shells of the agent inherit it: commits made there belong to this session.
    process.env.PI_SESSION_ID = ctx.sessionManager.getSessionId()
    report(event.type, { reason: event.reason }, ctx)
  })

  on("before_agent_start", async (event, ctx) => {
    const payload = report(event.type, { prompt: event.prompt }, ctx)
    // Asked once a session: another text would void what the provider caches of the prompt.
    const { sessionId } = payload
    if (!contexts.has(sessionId)) contexts.set(sessionId, context(ctx.cwd))
    const known = await contexts.get(sessionId)
    return known ? { systemPrompt: `${event.systemPrompt}\n\n${known}` } : undefined
  })

  on("tool_result", async (event, ctx) => {
    const { toolName, toolCallId, input, content, isError } = event
    const payload = report(event.type, { toolName, toolCallId, input, content, isError }, ctx)
    const text = toolName === "bash" ? await recall(event.type, payload, ctx.cwd) : ""
    return text ? { content: [...content, { type: "text", text }] } : undefined
  })

  on("agent_end", (event, ctx) => {
    const answers = event.messages.filter((message) => message.role === "assistant")
    const parts = answers.at(-1).content.filter((part) => part.type === "text")
    const sum = (name) => answers.reduce((total, { usage }) => total + (usage?.[name] ?? 0), 0)
    const usage = {
      input: sum("input"),
      output: sum("output"),
      cache_read: sum("cacheRead"),
      cache_write: sum("cacheWrite"),
    }
    report(event.type, { text: parts.map((part) => part.text).join("\n"), usage }, ctx)
  })

  on("session_compact", (event, ctx) => {
    report(event.type, { summary: event.compactionEntry.summary }, ctx)
  })

  on("session_shutdown", async (event, ctx) => {
    report(event.type, { reason: event.reason }, ctx)
    await allReported()
  })
}
