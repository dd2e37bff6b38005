/**
 * Preload (`--import`) for the service and its gitd: appends each process that gitd starts, one line each, to the
 * file of `?into=`.
 */
import childProcess from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import process from 'node:process';

const into = new URL(import.meta.url).searchParams.get('into') ?? '';

if (/gitd/.test(process.argv[1] ?? '')) {
  const { spawn } = childProcess;
  childProcess.spawn = ((...args: Parameters<typeof spawn>) => {
    const words = args.flat().filter((one) => typeof one === 'string');
    // The test that reads the file may have ended.
    if (existsSync(into)) appendFileSync(into, `${words.join(' ')}\n`);
    return spawn(...args);
  }) as typeof spawn;
  syncBuiltinESMExports();
}
