/** The handlers of all streams. */
import type { StreamHandlers } from './handler_types.ts';
import { dumpPack, readPack, writePack } from './ops/transfer_packs.ts';
import { readArchive } from './read/archive.ts';
import { streamBlob } from './read/blobs.ts';
import { advertise } from './transport/advertise.ts';
import { receivePack } from './transport/receive_pack.ts';
import { uploadPack } from './transport/upload_pack.ts';

export const streams: StreamHandlers = {
  'archive.read': readArchive,
  'blob.read': streamBlob,
  'pack.read': readPack,
  'pack.dump': dumpPack,
  'pack.write': writePack,
  'transport.advertise': advertise,
  'transport.upload_pack': uploadPack,
  'transport.receive_pack': receivePack,
};
