/**
 * Asks a git server over HTTP for its refs and objects. Each connection, also after a redirect, goes to an address that
 * was checked. User name and password go to the named server only.
 */
import type { IncomingMessage } from 'node:http';
import type { Lookup } from '../../../platform/addresses/cached_lookup.ts';
import {
  type AddressRules,
  getResponse,
  openCheckedRequest,
} from '../../../platform/addresses/checked_request.ts';
import { version } from '../../../platform/version.ts';
import type { Credentials, ImportSource } from '../../../projects/projects/imports/import_source.ts';
import { type Advertisement, parseAdvertisement } from './advertisement.ts';
import { ImportFailure, describeStatus, noRepositoryText, toImportFailure } from './import_failure.ts';
import { formatRequest, readPackBytes } from './pack_stream.ts';
import { trimEnd } from '../../../platform/trim.ts';

export type RemoteAccess = {
  rules: AddressRules;
  /** Ends all requests. */
  signal: AbortSignal;
  lookup?: Lookup | undefined;
};

const maxRedirects = 5;
/** Maximum bytes of the list of refs, most of which can belong to pull requests. */
const maxListBytes = 32 * 2 ** 20;
/** Milliseconds without a byte after which a server counts as gone. */
const maxSilence = 120_000;

const suffix = '/info/refs?service=git-upload-pack';
/** Some servers answer git only if the client has its name. */
const agent = `git/gantry-${version}`;

type Place = {
  /** Address of the repository, without a slash at its end. */
  base: string;
  credentials: Credentials | null;
};

const formatAuthorization = (credentials: Credentials | null): Record<string, string> => {
  if (credentials === null) return {};
  const { username, password } = credentials;
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
};

type Sent = { method: 'GET' | 'POST'; path: string; headers: Record<string, string>; body?: Buffer };

/** Sends a request. The response fails when the server is silent for too long, or the signal aborts. */
const send = async (
  { base, credentials }: Place,
  { method, path, headers, body }: Sent,
  { rules, signal, lookup }: RemoteAccess,
): Promise<IncomingMessage> => {
  signal.throwIfAborted();
  try {
    const request = await openCheckedRequest(new URL(base + path), {
      method,
      headers: {
        'user-agent': agent,
        ...headers,
        ...formatAuthorization(credentials),
        ...(body !== undefined && { 'content-length': String(body.length) }),
      },
      rules,
      verifiesCertificate: true,
      lookup,
    });
    let response: IncomingMessage | null = null;
    const end = (why: Error): void => void (response ?? request).destroy(why);
    const onAbort = (): void => end(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    request.once('close', () => signal.removeEventListener('abort', onAbort));
    const silent = new ImportFailure(`The server sent nothing for ${maxSilence / 1000} seconds.`);
    request.setTimeout(maxSilence, () => end(silent));
    // The signal may have aborted while the name was resolved.
    if (signal.aborted) onAbort();
    response = await getResponse(request, body ?? '');
    return response;
  } catch (error) {
    signal.throwIfAborted();
    throw toImportFailure(error);
  }
};

const isRedirect = ({ statusCode = 0 }: IncomingMessage): boolean =>
  [301, 302, 303, 307, 308].includes(statusCode);

/**
 * Returns whether a server may receive the credentials of another: only if it is the same server, or the same server
 * with encryption.
 */
const isSameServer = (from: URL, to: URL): boolean =>
  from.origin === to.origin ||
  (from.hostname === to.hostname && from.port === '' && to.port === '' && to.protocol === 'https:');

/** Follows a redirect of the list of refs to another repository. @throws ImportFailure */
const followRedirect = ({ base, credentials }: Place, location: string | undefined): Place => {
  const from = new URL(base + suffix);
  const to = URL.parse(location ?? '', from);
  const isWeb = to?.protocol === 'https:' || (to?.protocol === 'http:' && from.protocol === 'http:');
  if (to === null || !isWeb || !to.href.endsWith(suffix))
    throw new ImportFailure('The address redirects to one that is not of a git repository.');
  const isSame = isSameServer(from, to);
  to.username = '';
  to.password = '';
  return { base: to.href.slice(0, -suffix.length), credentials: isSame ? credentials : null };
};

const requireContent = (response: IncomingMessage, { credentials }: Place, type: string): void => {
  const { statusCode = 0, headers } = response;
  const isRight = headers['content-type']?.split(';')[0]?.trim() === type;
  if (statusCode === 200 && isRight) return;
  response.destroy();
  throw new ImportFailure(
    statusCode === 200 ? noRepositoryText : describeStatus(statusCode, credentials !== null),
  );
};

/** Converts errors of a response while it is read. */
const noting = async function* noting(
  source: AsyncIterable<Buffer>,
  { signal }: RemoteAccess,
): AsyncGenerator<Buffer> {
  try {
    yield* source;
  } catch (error) {
    signal.throwIfAborted();
    throw toImportFailure(error);
  }
};

const readList = async (response: IncomingMessage, access: RemoteAccess): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of noting(response as AsyncIterable<Buffer>, access)) {
    parts.push(chunk);
    size += chunk.length;
    if (size > maxListBytes) throw new ImportFailure('The list of branches and tags is too long.');
  }
  return Buffer.concat(parts);
};

export type RemoteRepository = Advertisement & {
  /** Yields a pack of all objects that branches and tags reach. */
  readPack: () => AsyncGenerator<Buffer>;
};

const readPack = async function* readPack(
  place: Place,
  list: Advertisement,
  access: RemoteAccess,
): AsyncGenerator<Buffer> {
  const type = 'application/x-git-upload-pack';
  const response = await send(
    place,
    {
      method: 'POST',
      path: '/git-upload-pack',
      headers: { 'content-type': `${type}-request`, accept: `${type}-result` },
      body: formatRequest(list, agent),
    },
    access,
  );
  requireContent(response, place, `${type}-result`);
  try {
    yield* readPackBytes(noting(response as AsyncIterable<Buffer>, access));
  } finally {
    response.destroy();
  }
};

/**
 * Reads the refs of a repository, following redirects.
 * @throws ImportFailure; the reason of the signal
 */
export const openRemote = async (source: ImportSource, access: RemoteAccess): Promise<RemoteRepository> => {
  let place: Place = { base: trimEnd(source.url, '/'), credentials: source.credentials };
  const ask = async (): Promise<IncomingMessage> =>
    await send(place, { method: 'GET', path: suffix, headers: { accept: '*/*' } }, access);
  let response = await ask();
  for (let count = 0; isRedirect(response); count += 1) {
    response.destroy();
    if (count === maxRedirects) throw new ImportFailure('The address redirects too often.');
    place = followRedirect(place, response.headers.location);
    response = await ask();
  }
  requireContent(response, place, 'application/x-git-upload-pack-advertisement');
  const list = parseAdvertisement(await readList(response, access));
  return { ...list, readPack: () => readPack(place, list, access) };
};
