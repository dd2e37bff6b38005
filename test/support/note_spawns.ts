/**
 * Loaded before the service (`--import`) and so before its gitd: notes there what that starts, a line a process, in
 * the file which `?into=` names.
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
    // Whoever wanted to know may have gone.
    if (existsSync(into)) appendFileSync(into, `${words.join(' ')}\n`);
    return spawn(...args);
  }) as typeof spawn;
  syncBuiltinESMExports();
}
