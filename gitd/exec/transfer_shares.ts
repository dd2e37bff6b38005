/** Shares transfer slots, so that no user, address or kind of transfer can hold all of them. */
import type { Client } from '../protocol_records.ts';
import type { Share } from './slots.ts';

/** Share of one user, one deploy key, or one anonymous address. */
const clientPart = 1 / 3;
/** Share of one address, signed in or not: others behind the same NAT still get slots. */
const addressPart = 1 / 2;
/** Share of pushes, and of fetches and archives: the rest is reserved for the other kind. */
const kindPart = 3 / 4;

/** @param client null: the service itself */
export const transferShares = (kind: 'push' | 'read', client: Client | null | undefined): Share[] => [
  ...(client === null || client === undefined
    ? []
    : [
        { holder: `client ${client.name}`, part: clientPart },
        { holder: `address ${client.address}`, part: addressPart },
      ]),
  { holder: `kind ${kind}`, part: kindPart },
];
