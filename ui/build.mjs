// Builds the page into src/runyard/web/built: index.html, and assets whose names change with what is in them.
//
//   node build.mjs            build, and say how large the first load is; more than 200 KB gzipped is an error
//   node build.mjs --watch    build again whenever a source file changes
//   node build.mjs --tests    bundle the unit tests into .tests/, for `node --test`

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const built = join(here, "..", "src", "runyard", "web", "built");
const FIRST_LOAD = 200 * 1024;

const options = {
  absWorkingDir: here,
  bundle: true,
  format: "esm",
  target: "es2023",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
};

const page = {
  ...options,
  entryPoints: { page: "src/main.tsx" },
  outdir: join(built, "assets"),
  entryNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  splitting: true, // what is imported when it is needed is not part of the first load
  loader: { ".svg": "file" },
  publicPath: "/assets",
  minify: true,
  metafile: true,
  plugins: [{ name: "index", setup: (build) => build.onEnd(writeIndex) }],
};

/** index.html is the last to be written: a process that finds it finds every file that it names. */
function writeIndex({ errors, metafile }) {
  if (errors.length) return;
  const outputs = Object.keys(metafile.outputs).map((path) => path.split("/").at(-1));
  const [entry] = Object.entries(metafile.outputs).find(([, output]) => output.entryPoint === "src/main.tsx");
  const [script, ...shared] = [...needed(metafile.outputs, entry)].map((path) => path.split("/").at(-1));
  const [style, icon] = [".css", ".svg"].map((end) => outputs.find((name) => name.endsWith(end)));
  const index = readFileSync(join(here, "src", "index.html"), "utf8")
    .replace("{{script}}", `/assets/${script}`)
    .replace("{{style}}", `/assets/${style}`)
    .replace("{{icon}}", `/assets/${icon}`);
  writeFileSync(join(built, "index.html"), index);
  for (const old of readdirSync(join(built, "assets"))) if (!outputs.includes(old)) rmSync(join(built, "assets", old));
  const size = [script, style, icon, ...shared].reduce((sum, name) => sum + gzipped(readFileSync(join(built, "assets", name))), 0);
  console.log(`page: ${((size + gzipped(index)) / 1024).toFixed(1)} KB gzipped`);
  if (size > FIRST_LOAD) throw new Error("The first load is larger than 200 KB.");
}

/** A script, and every one that it imports before it runs. */
function needed(files, path, found = new Set()) {
  found.add(path);
  for (const { kind, path: next } of files[path].imports)
    if (kind === "import-statement" && !found.has(next)) needed(files, next, found);
  return found;
}

const gzipped = (bytes) => gzipSync(bytes).length;

async function tests() {
  const found = readdirSync(join(here, "src"), { recursive: true }).filter((name) => name.endsWith(".test.ts"));
  rmSync(join(here, ".tests"), { recursive: true, force: true });
  const entryPoints = found.map((name) => join("src", name));
  await esbuild.build({
    ...options,
    entryPoints,
    outdir: join(here, ".tests"),
    platform: "node",
    outExtension: { ".js": ".mjs" },
  });
}

if (process.argv.includes("--tests")) await tests();
else if (process.argv.includes("--watch")) await (await esbuild.context(page)).watch();
else await esbuild.build(page);
