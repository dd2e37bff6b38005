/** Reads the answer of a git server to a request for objects: packets; band 1 contains the pack. */
import { type Oid, flushPacket, packet } from '../../../platform/git/protocol_types.ts';
import type { Advertisement } from './advertisement.ts';
import { ImportFailure, cutOffText, malformedText } from './import_failure.ts';
import { readPacket } from './read_packet.ts';

const bandCapability = 'side-band-64k';
/** Used if the server offers them. Some servers insist on `multi_ack`, although nothing is negotiated. */
const optionalCapabilities = ['multi_ack_detailed', 'ofs-delta'];

/** Writes the request for objects, all of them. @throws ImportFailure for a server that cannot send them so */
export const formatRequest = ({ refs, capabilities }: Advertisement, agent: string): Buffer => {
  if (!capabilities.has(bandCapability)) throw new ImportFailure('The git of the server is too old.');
  const used = [bandCapability, ...optionalCapabilities.filter((one) => capabilities.has(one))];
  const [first, ...others] = new Set<Oid>(refs.values());
  return Buffer.concat([
    packet(`want ${first} ${used.join(' ')} agent=${agent}\n`),
    ...others.map((id) => packet(`want ${id}\n`)),
    flushPacket,
    packet('done\n'),
  ]);
};

/** Splits a stream into packets; null: a flush. */
const splitPackets = async function* splitPackets(
  source: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer | null> {
  let unread: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    let at = 0;
    for (let read = readPacket(unread, 0); read !== null; read = readPacket(unread, at)) {
      at = read.next;
      yield read.packet.kind === 'data' ? read.packet.data : null;
    }
    unread = unread.subarray(at);
  }
};

const band = { pack: 1, progress: 2, error: 3 };

const isAcknowledgement = (data: Buffer): boolean => /^(?:NAK|ACK )/.test(data.toString('latin1', 0, 4));

/** Yields the bytes of the pack. @throws ImportFailure for an error of the server, and for an answer that is cut off */
export const readPackBytes = async function* readPackBytes(
  source: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  let isPack = false;
  for await (const data of splitPackets(source)) {
    if (data === null && isPack) return;
    if (data === null || (!isPack && isAcknowledgement(data))) continue;
    if (data[0] === band.pack) {
      isPack = true;
      // Servers send empty packets to keep the connection.
      if (data.length > 1) yield data.subarray(1);
    } else if (data[0] === band.error || data.toString('latin1', 0, 4) === 'ERR ') {
      throw new ImportFailure('The server reports an error.');
    } else if (data[0] !== band.progress) {
      throw new ImportFailure(malformedText);
    }
  }
  throw new ImportFailure(cutOffText);
};
