/**
 * Puts the program into a few JavaScript files under `dist/`: they start sooner than the sources, and in
 * less memory. `bin/gantry` runs them as long as no source is newer.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';

const root = import.meta.dirname;

const build = async (): Promise<void> => {
  const { build: bundle } = await import('esbuild');
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const common: BuildOptions = {
    absWorkingDir: root,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node26',
    legalComments: 'none',
    // The first looks for files beside its own; the others fastify names, and we never ask it for them.
    external: ['ssh2', '@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request'],
    minifyWhitespace: true,
    // So that a stack trace names a line worth looking at.
    lineLimit: 160,
    // What was CommonJS asks for Node's own modules in its own way.
    banner: { js: `import{createRequire as $r}from'node:module';const require=$r(import.meta.url);` },
  };
  await bundle({ ...common, entryPoints: ['src/app/cli/main.ts'], outdir: 'dist/cli', splitting: true });
  // Programs and threads of their own, in one file each.
  await bundle({
    ...common,
    entryPoints: {
      gitd: 'gitd/main.ts',
      runner: 'runner/main.ts',
      ci_file_thread: 'src/ci/ci_file/thread.ts',
      junit_thread: 'src/ci/artifacts/reports/thread.ts',
      count_thread: 'src/planning/issuables/lists/count_thread.ts',
    },
    outdir: 'dist',
  });
};

try {
  await build();
} catch (error) {
  if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
  process.stderr.write('esbuild is not installed: the sources run as they are\n');
}
