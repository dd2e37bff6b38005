/**
 * Bundles the program into a few JavaScript files under `dist/`: they start sooner than the sources, and in less
 * memory. `bin/gantry` runs them as long as no source is newer. Bundles the assets of pages, too, which the sources
 * need as well.
 */
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { migrationTexts } from './src/platform/db/migrations/list.ts';
import { helpFolder } from './src/doors/web/pages/help/render_topic.ts';
import { renderHelpFiles } from './src/doors/web/pages/help/static_pages.ts';
import { describeNewDatabase, newDatabaseFile } from './src/platform/db/new_database.ts';
import type { ChunkingContext, InputOptions, OutputOptions } from 'rolldown';

const root = import.meta.dirname;

/** Programs and threads of their own, in one file each. */
const programs = {
  gitd: 'gitd/main.ts',
  runner: 'runner/main.ts',
  compile_worker: 'src/ci/ci_file/compile_worker.ts',
  read_report_worker: 'src/ci/artifacts/reports/read_report_worker.ts',
  convert_worker: 'src/doors/markdown/convert_worker.ts',
  long_read_worker: 'src/planning/issuables/lists/long_read_worker.ts',
};

/** What `gantry serve` loads before it listens. */
const started = ['src/app/cli/serve.ts', 'src/app/main.ts'].map((file) => join(root, file));

const input: InputOptions = {
  cwd: root,
  platform: 'node',
  // The first looks for files beside its own; `tools/copy_unbundled_packages.ts` brings it and the second to the image.
  // The others fastify names, and we never ask it for them.
  external: [
    'ssh2',
    '@simplewebauthn/server',
    '@fastify/ajv-compiler',
    '@fastify/fast-json-stringify-compiler',
    'light-my-request',
  ],
  checks: { ineffectiveDynamicImport: false },
};

// Not minified, so that a stack trace names a line worth looking at.
const output: OutputOptions = {
  format: 'esm',
  entryFileNames: '[name].mjs',
  chunkFileNames: '[name]-[hash].mjs',
  comments: { legal: false, annotation: false, jsdoc: false },
  // What was CommonJS asks for Node's own modules in its own way.
  banner: `import{createRequire as $r}from'node:module';const require=$r(import.meta.url);`,
};

/** Returns the modules that the given ones import, directly or not, apart from dynamic imports. */
const listImported = (entries: readonly string[], context: ChunkingContext): Set<string> => {
  const found = new Set(entries);
  for (const id of found)
    for (const imported of context.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
  return found;
};

/** Names the chunk of a module that the service starts with; null: a chunk of its own, loaded when it is needed. */
const chunkOf = () => {
  let modules: Set<string> | undefined;
  return (id: string, context: ChunkingContext): string | null => {
    modules ??= listImported(started, context);
    if (!modules.has(id)) return null;
    // Commands load the first without the second.
    return /\/src\/(?:platform|core)\/|\/node_modules\/kysely\//.test(id) ? 'platform' : 'service';
  };
};

/** Bundles the command line: two chunks that the service starts with, and what is loaded later. */
const buildCommands = async (): Promise<void> => {
  const { build } = await import('rolldown');
  const groups = [{ name: chunkOf(), debugName: 'start' }];
  await build({
    ...input,
    input: { main: 'src/app/cli/main.ts' },
    output: { ...output, dir: 'dist/cli', codeSplitting: { groups } },
  });
};

const buildPrograms = async (): Promise<void> => {
  const { build } = await import('rolldown');
  for (const [name, file] of Object.entries(programs))
    await build({
      ...input,
      input: { [name]: file },
      output: { ...output, dir: 'dist', codeSplitting: false },
    });
};

/** Styles, script and pictures of the pages: the name that pages use, and the source file. */
const assetSources = {
  style: 'src/doors/web/assets/style.css',
  docs: 'src/doors/web/assets/docs.css',
  script: 'src/doors/web/client/main.ts',
  // Loaded by the script, when somebody writes.
  editor_tools: 'src/doors/web/client/editing/editor_tools.ts',
  icons: 'src/doors/web/assets/icons.svg',
  favicon: 'src/doors/web/assets/favicon.svg',
};

/**
 * Bundles the assets of pages under names with a hash of their content, each also compressed, and a manifest. Returns
 * the file of each.
 */
const buildAssets = async (): Promise<Record<string, string>> => {
  const { build: bundle } = await import('esbuild');
  const folder = join(root, 'dist/assets');
  mkdirSync(folder, { recursive: true });
  const manifest: Record<string, string> = {};
  for (const [name, source] of Object.entries(assetSources)) {
    const extension = extname(source).replace('.ts', '.js');
    const isBundled = extension !== '.svg';
    const bundled = isBundled
      ? await bundle({
          absWorkingDir: root,
          entryPoints: [source],
          bundle: true,
          minify: true,
          write: false,
          format: 'esm',
          // `light-dark()`, nesting and cascade layers stay as they are.
          target: ['chrome123', 'firefox121', 'safari17.5'],
          legalComments: 'none',
        })
      : null;
    const content = Buffer.from(bundled?.outputFiles?.[0]?.contents ?? readFileSync(join(root, source)));
    const file = `${basename(name)}-${hash('sha256', content).slice(0, 12)}${extension}`;
    writeFileSync(join(folder, file), content);
    writeFileSync(join(folder, `${file}.br`), brotliCompressSync(content));
    writeFileSync(join(folder, `${file}.gz`), gzipSync(content, { level: 9 }));
    manifest[name] = file;
  }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  return manifest;
};

/** Writes help as static pages, for `/help` and to read as files. */
const buildHelp = async (style = ''): Promise<void> => {
  mkdirSync(helpFolder, { recursive: true });
  const files = await renderHelpFiles(readFileSync(join(root, 'dist/assets', style), 'utf8'));
  for (const [name, text] of files) writeFileSync(join(helpFolder, name), text);
};

try {
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  await buildCommands();
  await buildPrograms();
  const { style } = await buildAssets();
  await buildHelp(style);
  writeFileSync(newDatabaseFile, JSON.stringify(describeNewDatabase(migrationTexts)));
} catch (error) {
  if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
  process.stderr.write('the bundlers are not installed: the sources run as they are\n');
}
