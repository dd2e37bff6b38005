/**
 * Preload (`--import`) with a query such as `?program=service&effect=refs.moved`: kills the process with SIGKILL when
 * the effect happens, as a power cut would. With `&signal=SIGSTOP` the process is stopped instead.
 */
import { subscribe } from 'node:diagnostics_channel';
import process from 'node:process';

const query = new URL(import.meta.url).searchParams;
const signal = query.get('signal') ?? 'SIGKILL';
const program = /gitd/.test(process.argv[1] ?? '') ? 'gitd' : 'service';

if (query.get('program') === program) {
  subscribe('gantry:effect', (message) => {
    const { effect } = message as { effect: string };
    if (effect === query.get('effect')) process.kill(process.pid, signal);
  });
}
