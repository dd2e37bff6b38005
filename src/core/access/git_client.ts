/** Names the client that gitd counts git processes for, so that each client gets its share. */
import { getOrigin } from '../../platform/addresses/client_origin.ts';
import type { Client } from '../../platform/git/protocol_types.ts';

/** @param userId null: anonymous */
export const getGitClient = (userId: number | null, ip: string): Client => {
  const address = getOrigin(ip);
  return { name: userId === null ? `address ${address}` : `user ${userId}`, address };
};
