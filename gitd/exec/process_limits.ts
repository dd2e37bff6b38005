/** Limits each git process by `prlimit`: the kernel enforces it even when gitd is gone. */
import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import type { SlotName } from './slots.ts';

/** From util-linux. If missing, only time and output are limited. */
const program = '/usr/bin/prlimit';
const isInstalled = existsSync(program);

/** Bytes of private memory; mapped packs do not count. */
const share = (of: number, most: number): number => Math.floor(Math.min(totalmem() * of, most));
const small = share(1 / 2, 2 ** 30);
const large = share(3 / 4, Number.MAX_SAFE_INTEGER);

/** CPU seconds of a pooled process in its whole life. */
const pooledLife = 3_600;
/** Extra CPU seconds, so that the time limit ends a process first. */
const grace = 10;

type Limited = { slot: SlotName | null; seconds: number | null };

/** Returns the words to put before a command to limit it. */
export const limitCommand = ({ slot, seconds }: Limited): string[] => {
  if (!isInstalled) return [];
  const isLarge = slot === 'transfer' || slot === 'maintenance';
  const computing = seconds === null ? (slot === null ? pooledLife : null) : Math.ceil(seconds) + grace;
  const cpu = computing === null ? [] : [`--cpu=${computing}`];
  return [program, `--data=${isLarge ? large : small}`, ...cpu, '--'];
};
