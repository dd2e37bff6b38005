/** How the places for transfers are shared out, so that no user, address or kind of transfer can hold all of them. */
import type { Client } from '../protocol.ts';
import type { Share } from './slots.ts';

/** Of one user, one deploy key, or one address without a user. */
const clientPart = 1 / 3;
/** Of all who come from one address, signed in or not: others behind the same NAT still get places. */
const addressPart = 1 / 2;
/** Of all pushes, and of all fetches and archives: the rest is reserved for the other kind. */
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
