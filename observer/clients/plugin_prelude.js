import { spawn } from "node:child_process"

// Runs one of the hook scripts of observer, and resolves to what it printed: to "" where it fails,
// is missing or takes too long. Never rejects.
const run = (words, payload, folder, waitMs) =>
  new Promise((resolve) => {
    try {
      const [script, ...args] = words
      const env = { ...process.env, PWD: folder, CLAUDE_PROJECT_DIR: folder }
      const child = spawn(`${HOOKS}/${script}`, args, {
        cwd: folder,
        env,
        stdio: ["pipe", "pipe", "ignore"],
        timeout: waitMs,
        killSignal: "SIGKILL",
      })
      let printed = ""
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (part) => (printed += part))
      child.stdin.on("error", () => {})
      child.on("error", () => resolve(""))
      child.on("close", (code) => resolve(code === 0 ? printed : ""))
      child.stdin.end(payload)
    } catch {
      resolve("")
    }
  })

// Events are reported one after the other, in their order, while the client goes on.
let reported = Promise.resolve()
const post = (event, payload, folder) => {
  const text = JSON.stringify(payload)
  reported = reported.then(() => run(["post", CLIENT, event], text, folder, 5000))
}
const recall = (event, payload, folder) =>
  run(["recall", CLIENT, event], JSON.stringify(payload), folder, 1000)
const context = (folder) => run(["context", CLIENT], "", folder, 1000)
const allReported = () =>
  Promise.race([reported, new Promise((resolve) => setTimeout(resolve, 3000).unref?.())])

// An error of ours must not become one of the client.
const guarded = (hook) => async (...given) => {
  try {
    return await hook(...given)
  } catch {
    return undefined
  }
}
