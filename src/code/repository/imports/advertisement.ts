/** Reads the list of refs that a git server sends to clients (protocol version 0). Pure. */
import { type Oid, isNewRef, toLine } from '../../../platform/git/protocol_types.ts';
import { branchPrefix, tagPrefix } from '../refs/resolve.ts';
import { ImportFailure, cutOffText, malformedText, noRepositoryText } from './import_failure.ts';
import { readPacket } from './read_packet.ts';

export type Advertisement = {
  /** Branches and tags by full name, without names that are not allowed here. */
  refs: Map<string, Oid>;
  /** Full name of the default branch; null if there is no branch. */
  head: string | null;
  capabilities: ReadonlySet<string>;
};

/** Maximum branches and tags; as many as gitd sets in one call. */
const maxRefs = 100_000;

const serviceLine = '# service=git-upload-pack';

/** Reads the lines of all packets; null: a flush. */
const readLines = (bytes: Buffer): (string | null)[] => {
  const lines: (string | null)[] = [];
  for (let at = 0; at < bytes.length;) {
    const read = readPacket(bytes, at);
    if (read === null) throw new ImportFailure(cutOffText);
    lines.push(read.packet.kind === 'data' ? toLine(read.packet.data) : null);
    at = read.next;
  }
  return lines;
};

/** Splits the answer into the lines of refs and the capabilities. */
const splitAnswer = (bytes: Buffer): { lines: string[]; capabilities: string[] } => {
  const [first, flush, ...rest] = readLines(bytes);
  if (first !== serviceLine || flush !== null) throw new ImportFailure(noRepositoryText);
  const end = rest.indexOf(null);
  if (end === -1) throw new ImportFailure(cutOffText);
  const lines = rest.slice(0, end) as string[];
  const [line = '', capabilities = ''] = (lines[0] ?? '').split('\0');
  return { lines: [line, ...lines.slice(1)], capabilities: capabilities.split(' ').filter(Boolean) };
};

const requireSupported = (lines: readonly string[], capabilities: ReadonlySet<string>): void => {
  if (lines.some((line) => line.startsWith('ERR '))) throw new ImportFailure('The server reports an error.');
  if (lines.some((line) => line.startsWith('shallow ')))
    throw new ImportFailure('The repository is a shallow clone: a part of its history is missing.');
  if (capabilities.has('object-format=sha256'))
    throw new ImportFailure('The repository uses SHA-256 for its objects, which is not supported.');
};

const refPattern = /^(?<id>[0-9a-f]{40}) (?<name>[^\0\n]+)$/;

const parseRef = (line: string): { id: Oid; name: string } => {
  const { id, name } = refPattern.exec(line)?.groups ?? {};
  if (id === undefined || name === undefined) throw new ImportFailure(malformedText);
  return { id, name };
};

/**
 * Finds the branch of HEAD. If the server does not name it, returns a branch at the same commit, or any branch. The
 * usual names come first.
 */
const findHead = (
  refs: Advertisement['refs'],
  head: Oid | undefined,
  capabilities: readonly string[],
): string | null => {
  const prefix = 'symref=HEAD:';
  const branches = [...refs].filter(([name]) => name.startsWith(branchPrefix));
  const named = capabilities.find((one) => one.startsWith(prefix))?.slice(prefix.length);
  if (named !== undefined && branches.some(([name]) => name === named)) return named;
  const atHead = branches.filter(([, id]) => id === head);
  const names = (atHead.length > 0 ? atHead : branches).map(([name]) => name);
  const usual = ['main', 'master'].map((name) => branchPrefix + name);
  return usual.find((name) => names.includes(name)) ?? names[0] ?? null;
};

const isImported = (name: string): boolean =>
  (name.startsWith(branchPrefix) || name.startsWith(tagPrefix)) && isNewRef(name);

/** @throws ImportFailure */
export const parseAdvertisement = (bytes: Buffer): Advertisement => {
  const { lines, capabilities } = splitAnswer(bytes);
  const capabilitySet = new Set(capabilities);
  requireSupported(lines, capabilitySet);
  const advertised = lines.filter((line) => line !== '').map(parseRef);
  const refs = new Map(advertised.filter(({ name }) => isImported(name)).map(({ name, id }) => [name, id]));
  if (refs.size > maxRefs)
    throw new ImportFailure(
      `The repository has more than ${maxRefs.toLocaleString('en')} branches and tags.`,
    );
  const head = advertised.find(({ name }) => name === 'HEAD')?.id;
  return { refs, head: findHead(refs, head, capabilities), capabilities: capabilitySet };
};
