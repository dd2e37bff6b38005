import { type Packet, readPacketAt } from '../../../platform/git/protocol_types.ts';
import { ImportFailure, malformedText } from './import_failure.ts';

/** Reads a packet that another server sent; null if it is incomplete. @throws ImportFailure */
export const readPacket = (bytes: Buffer, at: number): { packet: Packet; next: number } | null => {
  try {
    return readPacketAt(bytes, at);
  } catch {
    throw new ImportFailure(malformedText);
  }
};
