/** How many pieces of work run at once: some of each lane, so that what takes long holds up its own kind alone. */
import { type Kinds, everyKind } from './taken.ts';

export type Lane = {
  /** In metrics. */
  title: string;
  /** The names of its work; null: whatever no other lane has. */
  names: readonly string[] | null;
  /** How many of its pieces run at once, in one process. */
  most: number;
};

/** One piece after another. */
export const oneLane: readonly Lane[] = [{ title: 'default', names: null, most: 1 }];

/** The title of the lane that a kind of work runs in. */
export const laneName = (lanes: readonly Lane[], kind: string): string =>
  (lanes.find(({ names }) => names?.includes(kind)) ?? lanes.find(({ names }) => names === null))?.title ??
  '';

const hasRoom = ({ names, most }: Lane, lanes: readonly Lane[], running: readonly string[]): boolean => {
  const named = lanes.flatMap((lane) => lane.names ?? []);
  const isOurs = (name: string): boolean => (names === null ? !named.includes(name) : names.includes(name));
  return running.filter(isOurs).length < most;
};

/** Pure: what may be taken beside what runs; null: nothing. */
export const kindsToTake = (lanes: readonly Lane[], running: readonly string[]): Kinds | null => {
  if (running.length === 0) return everyKind;
  const [open, full]: [Lane[], Lane[]] = [[], []];
  for (const lane of lanes) (hasRoom(lane, lanes, running) ? open : full).push(lane);
  if (open.length === 0) return null;
  const namesOf = (some: Lane[]): string[] => some.flatMap(({ names }) => names ?? []);
  return open.some(({ names }) => names === null) ? { except: namesOf(full) } : { only: namesOf(open) };
};
