// Drives what `useStream` of LangGraph is made of, in Node and unmodified: the StreamController and the thread stream of
// `@langchain/langgraph-sdk`: `node langgraph_thread_client.mjs <case>`. The folder of the library is in CLIENTS. Every
// line that it prints is a JSON object; the last one is the result.

import { createRequire } from 'node:module'

const packages = createRequire(`${process.env.CLIENTS}/package.json`)
const { Client } = packages('@langchain/langgraph-sdk')
const { StreamController } = packages('@langchain/langgraph-sdk/stream')
const client = new Client({ apiUrl: `${process.env.BASE_URL}/langgraph`, apiKey: process.env.API_KEY ?? null })
const given = process.env.INPUT ?? 'hello'

const say = (what) => console.log(JSON.stringify(what))
const asks = (content) => ({ messages: [{ type: 'human', content }] })
const texts = (messages) => messages.map((message) => [message.getType(), message.text])

const opened = (more = {}) =>
  new StreamController({
    client,
    assistantId: 'helper',
    reconnectDelayMs: () => 10,
    maxReconnectAttempts: 500,
    ...more,
  })

const until = (controller, fits) =>
  new Promise((resolve) => {
    const look = () => fits(controller.rootStore.getSnapshot()) && (stop(), resolve(controller.rootStore.getSnapshot()))
    const stop = controller.rootStore.subscribe(() => look())
    setTimeout(look, 0)
  })

const finished = (state) => {
  const last = state.messages.at(-1)
  return last?.getType() === 'ai' && last.text.endsWith(process.env.UNTIL ?? '.')
}

const settled = (controller) => until(controller, (state) => !state.isLoading && (state.error != null || finished(state)))

const seen = (state) => ({
  texts: texts(state.messages),
  calls: state.toolCalls.map((call) => [call.name, call.status, call.output]),
  interrupts: state.interrupts.map((each) => each.value),
  error: state.error?.message ?? null,
})

const cases = {
  async key() {
    const wrong = opened({ client: new Client({ apiUrl: `${process.env.BASE_URL}/langgraph`, apiKey: 'wrong' }) })
    await wrong.submit(asks('hello')).catch(() => {})
    const denied = (await until(wrong, (state) => state.error != null)).error.message
    const controller = opened()
    await controller.submit(asks('hello'))
    say({ denied, text: seen(await settled(controller)).texts.at(-1)[1] })
  },

  async turns() {
    const controller = opened()
    const found = []
    for (const each of given.split(',')) {
      await controller.submit(asks(each))
      found.push(seen(await settled(controller)))
    }
    const threadId = controller.rootStore.getSnapshot().threadId
    const again = opened({ threadId })
    await again.hydrationPromise
    await again.submit(asks('hello'))
    const later = seen(await settled(again))
    const values = (await client.threads.getState(threadId)).values.messages.map((each) => [each.type, each.content])
    say({ found, later, values })
  },

  async approval() {
    const controller = opened()
    await controller.submit(asks('refund'))
    const asked = await until(controller, (state) => state.interrupts.length > 0)
    say({ asked: seen(asked) })
    const other = opened({ threadId: asked.threadId })
    await other.hydrationPromise
    const reloaded = seen(other.rootStore.getSnapshot())
    await controller.respond({ decisions: [{ type: 'approve' }] })
    const last = seen(await until(controller, finished))
    const there = seen(await until(other, finished))
    say({ reloaded, last, there })
  },

  // A question, a tool of the client and a confirmation; and a file.
  async questions() {
    const controller = opened({ assistantId: 'airline' })
    await controller.submit(asks('a seat'))
    const seen = []
    for (const answer of [{ row: 12 }, 'Oslo', { decisions: [{ type: 'approve' }] }]) {
      const asked = await until(controller, (state) => state.interrupts.length > 0 && !seen.includes(state.interrupts.at(-1).id))
      seen.push(asked.interrupts.at(-1).id)
      say({ asked: asked.interrupts.at(-1).value })
      await controller.respond(answer)
    }
    const booked = seen.length && texts((await until(controller, finished)).messages).at(-1)
    const viewer = opened({ assistantId: 'viewer' })
    const data = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64')
    const content = [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
    ]
    await viewer.submit(asks(content))
    const looked = await until(viewer, (state) => state.messages.at(-1)?.getType() === 'ai' && state.messages.at(-1).text !== '')
    say({ booked, seen: texts(looked.messages).at(-1) })
  },

  async stop() {
    const controller = opened()
    const submitted = controller.submit(asks('endless'))
    const state = await until(controller, (state) => (state.messages[1]?.text ?? '').length > 4)
    await controller.stop()
    await submitted
    const stopped = controller.rootStore.getSnapshot()
    const run = async () => (await client.runs.list(state.threadId))[0].status
    while ((await run()) === 'running') await new Promise((resolve) => setTimeout(resolve, 20))
    say({ status: await run(), loading: stopped.isLoading, error: stopped.error?.message ?? null })
  },

  async error() {
    const controller = opened()
    await controller.submit(asks('fail'))
    const failed = seen(await settled(controller))
    const unknown = opened({ assistantId: 'unknown' })
    await unknown.submit(asks('hello'))
    say({ failed: failed.error, unknown: unknown.rootStore.getSnapshot().error.message })
  },

  async edit() {
    const controller = opened()
    await controller.submit(asks('hello one'))
    await settled(controller)
    await controller.submit(asks('hello two'))
    const state = await settled(controller)
    const asked = state.messages.at(-2).id
    const { parentCheckpointId } = controller.messageMetadataStore.getSnapshot().get(asked)
    await controller.submit(asks('look'), { forkFrom: parentCheckpointId })
    say(seen(await until(controller, (state) => !state.isLoading && state.messages.at(-1).text.startsWith('So'))))
  },

  // one run over a connection that may break
  async resume() {
    const controller = opened()
    const submitted = controller.submit(asks(given))
    await until(controller, (state) => state.messages.length > 0 && state.threadId != null)
    say({ thread: controller.rootStore.getSnapshot().threadId })
    await submitted
    say(seen(await until(controller, (state) => !state.isLoading && finished(state))))
  },
}

await cases[process.argv[2]]()
process.exit(0)
