/** Shares interactive slots, so that the reads of one client block neither other clients nor changes. */
import type { Client } from '../protocol_records.ts';
import type { Share } from './slots.ts';
import type { Exec, GitRun } from './spawn.ts';

/** Share of one user or deploy key. */
const userPart = 1 / 2;
/** Share of one anonymous address. */
const addressPart = 1 / 4;
/** Share of all anonymous clients together. */
const anonymousPart = 1 / 2;
/** Share of the reads of all clients: the rest is reserved for commits, merges, pushes and the service itself. */
const readPart = 3 / 4;

const isAnonymous = ({ name, address }: Client): boolean => name === `address ${address}`;

export const interactiveShares = (kind: 'change' | 'read', client: Client): Share[] => [
  { holder: `client ${client.name}`, part: isAnonymous(client) ? addressPart : userPart },
  ...(isAnonymous(client) ? [{ holder: 'anonymous', part: anonymousPart }] : []),
  ...(kind === 'read' ? [{ holder: 'kind read', part: readPart }] : []),
];

/** Counts the interactive slots of an `Exec` against these shares. */
export const withInteractiveShares = (exec: Exec, shares: readonly Share[]): Exec => {
  const share = <R extends Pick<GitRun, 'slot' | 'shares'>>(run: R): R =>
    run.slot === 'interactive' && run.shares === undefined ? { ...run, shares } : run;
  return {
    ...exec,
    start: async (run) => await exec.start(share(run)),
    run: async (run) => await exec.run(share(run)),
    takeSlot: async (request) => await exec.takeSlot(share(request)),
  };
};
