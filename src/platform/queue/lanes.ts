/** Limits concurrent work by lane, so that slow work delays only its own kind. */
import { type Kinds, allKinds } from './leases.ts';

export type Lane = {
  /** Name in metrics. */
  title: string;
  /** Kinds of work; null: every kind that no other lane has. */
  names: readonly string[] | null;
  /** Maximum pieces that one process runs concurrently. */
  maxPieces: number;
};

/** One lane that runs one piece at a time. */
export const singleLane: readonly Lane[] = [{ title: 'default', names: null, maxPieces: 1 }];

/** Returns the title of the lane that runs a kind of work. */
export const getLaneName = (lanes: readonly Lane[], kind: string): string =>
  (lanes.find(({ names }) => names?.includes(kind)) ?? lanes.find(({ names }) => names === null))?.title ??
  '';

const hasRoom = ({ names, maxPieces }: Lane, lanes: readonly Lane[], running: readonly string[]): boolean => {
  const isNamed = (name: string): boolean => lanes.some((lane) => lane.names?.includes(name) === true);
  const isOurs = (name: string): boolean => (names === null ? !isNamed(name) : names.includes(name));
  return running.filter(isOurs).length < maxPieces;
};

/** Returns the kinds that may start in addition to running work; null: none. Pure. */
export const getKindsToTake = (lanes: readonly Lane[], running: readonly string[]): Kinds | null => {
  if (running.length === 0) return allKinds;
  const [open, full]: [Lane[], Lane[]] = [[], []];
  for (const lane of lanes) (hasRoom(lane, lanes, running) ? open : full).push(lane);
  if (open.length === 0) return null;
  const listNames = (some: Lane[]): string[] => some.flatMap(({ names }) => names ?? []);
  return open.some(({ names }) => names === null) ? { except: listNames(full) } : { only: listNames(open) };
};
