/** Limits each git process by `prlimit`: the kernel enforces it even when gitd is gone. */
import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import type { SlotName } from './slots.ts';

/** From util-linux. If it is missing, only the limits of `spawn.ts` apply: time and output. */
const program = '/usr/bin/prlimit';
const isInstalled = existsSync(program);

/** Returns a limit of private memory in bytes; mapped packs do not count. */
const memoryLimit = (fraction: number, maxBytes: number): number =>
  Math.floor(Math.min(totalmem() * fraction, maxBytes));
const usualMemory = memoryLimit(1 / 2, 2 ** 30);
const largeMemory = memoryLimit(3 / 4, Number.MAX_SAFE_INTEGER);

/** CPU seconds of a pooled process in its whole life. */
const pooledLife = 3_600;
/** Extra CPU seconds, so that gitd's time limit ends a process before the kernel does. */
const grace = 10;

type Limited = { slot: SlotName | null; seconds: number | null };

/** Returns the words to put before a command to limit it. */
export const limitCommand = ({ slot, seconds }: Limited): string[] => {
  if (!isInstalled) return [];
  const isLarge = slot === 'transfer' || slot === 'maintenance';
  const isPooled = slot === null && seconds === null;
  const cpuSeconds = seconds === null ? pooledLife : Math.ceil(seconds) + grace;
  const cpu = seconds === null && !isPooled ? [] : [`--cpu=${cpuSeconds}`];
  return [program, `--data=${isLarge ? largeMemory : usualMemory}`, ...cpu, '--'];
};
