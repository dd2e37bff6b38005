/** Parses the output of `git diff-tree -r -M --raw -p -z` as a stream; holds nothing beyond the limits. */
import { type DiffLimits, type FileDiff, zeroOid } from '../protocol_records.ts';
import { decodeFileName } from '../decode_text.ts';
import { Patch } from './patch_text.ts';

export type DiffParser = {
  /** Returns true when it needs no more input. */
  push: (chunk: Buffer) => boolean;
  /** Ends the input and returns the result. */
  finish: () => { diffs: FileDiff[]; files: number; overflow: boolean };
};

const lineFeed = 10;
const nul = 0;
const colon = 58;

/** Bytes around a raw record: `:100644 100644 <id> <id> M\0path\0`. */
const recordPattern = /^:(\d{6}) (\d{6}) ([0-9a-f]{40}) ([0-9a-f]{40}) ([A-Z])\d*$/;

type Status = { letter: string; paths: string[] };

const zeroMode = (mode: string): string => (mode === '000000' ? '0' : mode);

const parseEntries = (meta: string, paths: string[]): FileDiff[] => {
  const [, aMode = '', bMode = '', oldId = '', newId = '', letter = ''] = recordPattern.exec(meta) ?? [];
  const [first = '', second = first] = paths.map(decodeFileName);
  const entry: FileDiff = {
    old_path: first,
    new_path: second,
    a_mode: zeroMode(aMode),
    b_mode: zeroMode(bMode),
    old_id: oldId,
    new_id: newId,
    new_file: letter === 'A' || letter === 'C',
    renamed_file: letter === 'R',
    deleted_file: letter === 'D',
    binary: false,
    diff: '',
    too_large: false,
    additions: 0,
    deletions: 0,
  };
  if (letter !== 'T') return [entry];
  // A change of type, such as file to link: git shows a deletion and an addition.
  return [
    { ...entry, deleted_file: true, b_mode: '0', new_id: zeroOid },
    { ...entry, new_file: true, a_mode: '0', old_id: zeroOid },
  ];
};

/** Reads the raw part. Returns the rest of the buffer, and whether the patches begin there. */
const makeRawReader = (isHeaded: boolean, onEntry: (entry: FileDiff) => void) => {
  let headed = !isHeaded;
  let open: Status & { meta: string } = { meta: '', letter: '', paths: [] };
  const onField = (field: string): void => {
    if (open.meta === '') {
      open = { meta: field, letter: recordPattern.exec(field)?.[5] ?? '', paths: [] };
      return;
    }
    open.paths.push(field);
    if (open.paths.length < (['R', 'C'].includes(open.letter) ? 2 : 1)) return;
    for (const entry of parseEntries(open.meta, open.paths)) onEntry(entry);
    open = { meta: '', letter: '', paths: [] };
  };
  return (data: Buffer): { rest: Buffer; ended: boolean } => {
    let at = 0;
    if (!headed) {
      const end = data.indexOf(lineFeed);
      if (end < 0) return { rest: data, ended: false };
      headed = true;
      at = end + 1;
    }
    while (at < data.length) {
      if (open.meta === '' && data[at] === nul) return { rest: data.subarray(at + 1), ended: true };
      if (open.meta === '' && data[at] !== colon) return { rest: data.subarray(at), ended: true };
      const end = data.indexOf(nul, at);
      if (end < 0) break;
      onField(data.toString('latin1', at, end));
      at = end + 1;
    }
    return { rest: data.subarray(at), ended: false };
  };
};

/**
 * Makes a parser. Past the limits of the whole diff, files are still listed, but without texts.
 * @param isHeaded whether a line with the two trees comes first
 */
export const makeDiffParser = (limits: DiffLimits, isHeaded: boolean): DiffParser => {
  const diffs: FileDiff[] = [];
  let files = 0;
  let overflow = false;
  let patch: Patch | null = null;
  let held: Buffer = Buffer.alloc(0);
  const readRaw = makeRawReader(isHeaded, (entry) => {
    files += 1;
    if (diffs.length < limits.files) diffs.push(entry);
  });
  const startPatch = (): Patch => {
    overflow = files > diffs.length;
    return new Patch(diffs, limits);
  };
  const push = (chunk: Buffer): boolean => {
    if (patch !== null) return patch.push(chunk);
    const { rest, ended } = readRaw(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
    held = rest;
    if (!ended) return false;
    patch = startPatch();
    held = Buffer.alloc(0);
    return patch.push(rest);
  };
  return {
    push,
    finish: () => {
      const isCut = (patch ?? startPatch()).finish();
      return { diffs, files, overflow: overflow || isCut };
    },
  };
};
