/** Writes and reads the list of what a backup contains: one JSON value a line, compressed. */
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { type ContentLine, type Manifest, type StoredObject, parseContentLine } from './manifest.ts';
import { type BackupReader, openObject } from './places/backup_place.ts';
import { type Storing, addObject } from './save_blobs.ts';

export type ContentsWriter = {
  write: (line: ContentLine) => Promise<void>;
  end: () => Promise<StoredObject>;
};

export const openContents = (saving: Storing): ContentsWriter => {
  const lines = new PassThrough();
  const compressed = createZstdCompress();
  const piped = pipeline(lines, compressed);
  const stored = addObject(saving, compressed);
  for (const promise of [piped, stored]) promise.catch(() => undefined); // `end` reports it
  return {
    write: async (line) => {
      if (!lines.write(`${JSON.stringify(line)}\n`))
        await Promise.race([piped, new Promise((go) => void lines.once('drain', go))]);
    },
    end: async () => {
      lines.end();
      await piped;
      return await stored;
    },
  };
};

/** Reads the lines of a backup. @throws StartFailure for a line that no backup has */
export const readContents = async function* readContents(
  place: BackupReader,
  { contents }: Pick<Manifest, 'contents'>,
): AsyncGenerator<ContentLine> {
  const compressed = await openObject(place, contents.sha256);
  const text = createZstdDecompress();
  const piped = pipeline(compressed, text);
  piped.catch(() => undefined); // reading fails, too
  for await (const line of createInterface({ input: text, crlfDelay: Infinity }))
    yield parseContentLine(line);
  await piped;
};

/** The name of what a line is about, the same in each backup. */
const keyOf = (line: ContentLine): string | null => {
  if (line.kind === 'blob') return null;
  return `${line.kind} ${line.path}`;
};

/** Loads the lines that the next backup may reuse: repositories and logs. */
export const loadEarlierLines = async (
  place: BackupReader,
  manifest: Manifest,
): Promise<Map<string, ContentLine>> => {
  const lines = new Map<string, ContentLine>();
  for await (const line of readContents(place, manifest)) {
    const key = keyOf(line);
    if (key !== null) lines.set(key, line);
  }
  return lines;
};
