/** Builds a pack of a few whole objects, as input for git. */
import { hash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import type { ObjectKind } from './loose_object_writer.ts';

const typeNumbers: Record<ObjectKind, number> = { commit: 1, tree: 2, blob: 3, tag: 4 };

/** Encodes type and size: four bits of the size in the first byte, seven in each that follows. */
const objectHeader = (kind: ObjectKind, size: number): Buffer => {
  const bytes: number[] = [];
  let byte = (typeNumbers[kind] << 4) | (size & 0x0f);
  let remaining = Math.floor(size / 16);
  while (remaining > 0) {
    bytes.push(byte | 0x80);
    byte = remaining & 0x7f;
    remaining = Math.floor(remaining / 128);
  }
  return Buffer.from([...bytes, byte]);
};

export const buildPack = (objects: { kind: ObjectKind; content: Uint8Array }[]): Buffer => {
  const head = Buffer.alloc(12, 'PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(objects.length, 8);
  const parts = objects.flatMap(({ kind, content }) => [
    objectHeader(kind, content.length),
    deflateSync(content, { level: 1 }),
  ]);
  const pack = Buffer.concat([head, ...parts]);
  return Buffer.concat([pack, hash('sha1', pack, 'buffer')]);
};
