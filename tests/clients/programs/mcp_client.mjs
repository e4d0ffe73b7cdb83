// Drives `@modelcontextprotocol/client`, unmodified: `node mcp_client.mjs <case>`. The folder of the package is in CLIENTS.
// It prints one JSON object.

import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(`${process.env.CLIENTS}/package.json`)
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(require.resolve('@modelcontextprotocol/client')).href)
const { BASE_URL, MODE, MAX_RETRIES } = process.env
const say = (what) => console.log(JSON.stringify(what))

const DELAYS = { initialReconnectionDelay: 1000, maxReconnectionDelay: 30000, reconnectionDelayGrowFactor: 1.5 } // its defaults
const forms = {
  'Call refund?': { approved: true },
  'Which seat?': { row: 12 },
  'The agent needs the result of locate.': { value: 'Oslo' },
  'Buy it?': { approved: true },
}

async function connected(key = process.env.API_KEY) {
  const client = new Client(
    { name: 'runyard-tests', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: MODE } },
  )
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const [, content] = Object.entries(forms).find(([question]) => params.message.startsWith(question))
    return { action: 'accept', content }
  })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${BASE_URL}/mcp`), {
      ...(key && { authProvider: { token: async () => key } }),
      ...(MAX_RETRIES && { reconnectionOptions: { ...DELAYS, maxRetries: Number(MAX_RETRIES) } }),
    }),
  )
  return client
}

const text = (result) => result.content.map((each) => each.text).join('|')
const call = (client, name, message, options) => client.callTool({ name, arguments: { message } }, options)

const cases = {
  async key() {
    let denied
    await connected('wrong').catch((error) => (denied = [error.constructor.name, error.message]))
    const client = await connected()
    say({ denied, text: text(await call(client, 'helper', 'hello')) })
    await client.close()
  },

  async everything() {
    const client = await connected()
    const progress = []
    const found = { version: client.getNegotiatedProtocolVersion?.() }
    found.tools = (await client.listTools()).tools.map((tool) => tool.name)
    found.answer = text(await call(client, 'helper', 'hello'))
    found.tool = text(await call(client, 'helper', 'look', { onprogress: ({ message }) => void progress.push(message) }))
    found.progress = progress
    found.approval = text(await call(client, 'helper', 'refund'))
    found.booking = text(await call(client, 'airline', 'a seat'))
    const failed = await call(client, 'helper', 'fail')
    found.failed = [failed.isError, text(failed).includes('rate_limited')]
    try {
      await call(client, 'unknown', 'hello')
    } catch (refused) {
      found.unknown = refused.code
    }
    const stop = new AbortController()
    try {
      await call(client, 'helper', 'endless', { signal: stop.signal, onprogress: () => stop.abort() })
    } catch {
      found.canceled = stop.signal.aborted
    }
    await client.listTools() // the client does not wait until its notification is sent
    await client.close()
    say(found)
  },

  // Files of results, a resource that is read, and a file of a call.
  async files() {
    const client = await connected()
    const { content } = await call(client, 'printer', 'several')
    const { contents } = await client.readResource({ uri: content.find((each) => each.type === 'resource_link').uri })
    const files = ['data:text/plain,hello']
    const seen = await client.callTool({ name: 'viewer', arguments: { message: 'look', files } })
    say({
      kinds: content.map((each) => each.type),
      bytes: Buffer.from(contents[0].blob, 'base64').length,
      seen: text(seen),
    })
    await client.close()
  },

  // A call with forms, over connections that break.
  async book() {
    const client = await connected()
    say({ text: text(await call(client, 'airline', 'a seat', { onprogress: () => {} })) })
    await client.close()
  },

  // A call over connections that break.
  async resume() {
    const client = await connected()
    say({ text: text(await call(client, 'helper', process.env.INPUT ?? 'count', { onprogress: () => {} })) })
    await client.close()
  },
}

await cases[process.argv[2]]()
process.exit(0)
