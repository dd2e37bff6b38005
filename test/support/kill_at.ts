/**
 * Loaded before a program (`--import`), with `?program=service&effect=refs.moved` behind its address: ends the process
 * by SIGKILL at this moment, as a power cut would end it; with `&signal=SIGSTOP` it stays, and stands still.
 */
import { subscribe } from 'node:diagnostics_channel';
import process from 'node:process';

const wanted = new URL(import.meta.url).searchParams;
const signal = wanted.get('signal') ?? 'SIGKILL';
const program = /gitd/.test(process.argv[1] ?? '') ? 'gitd' : 'service';

if (wanted.get('program') === program) {
  subscribe('gantry:effect', (message) => {
    const { effect } = message as { effect: string };
    if (effect === wanted.get('effect')) process.kill(process.pid, signal);
  });
}
