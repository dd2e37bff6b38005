/** What one process may use at most, held by the kernel: also where nobody is left to watch it. */
import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import type { SlotName } from './slots.ts';

/** Of util-linux. Where it is missing, only times and outputs are limited. */
const program = '/usr/bin/prlimit';
const isThere = existsSync(program);

/** Bytes of memory of its own; the packs that it maps do not count. */
const share = (of: number, most: number): number => Math.floor(Math.min(totalmem() * of, most));
const small = share(1 / 2, 2 ** 30);
const large = share(3 / 4, Number.MAX_SAFE_INTEGER);

/** Seconds that a process of a pool may compute in its whole life. */
const pooledLife = 3_600;
/** Seconds beyond those that it is given: it is killed for its time before it is for this. */
const grace = 10;

type Limited = { slot: SlotName | null; seconds: number | null };

/** The words before a command that limit it. */
export const limitsOf = ({ slot, seconds }: Limited): string[] => {
  if (!isThere) return [];
  const isLarge = slot === 'transfer' || slot === 'maintenance';
  const computing = seconds === null ? (slot === null ? pooledLife : null) : Math.ceil(seconds) + grace;
  const cpu = computing === null ? [] : [`--cpu=${computing}`];
  return [program, `--data=${isLarge ? large : small}`, ...cpu, '--'];
};
