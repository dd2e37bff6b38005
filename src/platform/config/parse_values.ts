/** Parsers of configuration values. Each throws an `Error` whose message continues "<name> ...". */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { trimEnd } from '../trim.ts';

/** A setting of the process. */
export type Field<T> = {
  /** `--data`; absent for settings that must not be on a command line. */
  flag?: string;
  variable: string;
  /** Default as text; null: none. */
  default: string | null;
  meaning: string;
  /** Never printed. Can also be read from the file that `<variable>_FILE` names. */
  secret?: true;
  /** Throws an `Error` whose message continues "<name> ...". */
  read: (text: string) => T;
};

export type Address = { host: string; port: number };

export type RepositoryStorage = {
  name: string;
  /** Absolute path; null: a folder in the data folder. */
  path: string | null;
  /** Address of a remote gitd; null: the service starts one itself. */
  address: RemoteStorage | null;
};

type RemoteStorage = Address & { isTls?: boolean };

/** Reads HOST:PORT. Without a host, it means this machine only. */
export const readAddress = (text: string): Address => {
  const match = /^(?:(\[[0-9a-f:.]+\]|[^:[\]]*):)?(\d{1,5})$/i.exec(text.trim());
  const port = Number(match?.[2]);
  if (match === null || port > 65_535) throw new Error('must be HOST:PORT, such as 127.0.0.1:8080');
  return { host: (match[1] || '127.0.0.1').replace(/^\[|\]$/g, ''), port };
};

export const readUrl = (protocols: string[]): ((text: string) => string) => {
  return (text) => {
    const url = URL.parse(text);
    if (url === null || !protocols.includes(url.protocol)) {
      throw new Error(`must be a URL that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    }
    return trimEnd(text, '/');
  };
};

export const readMatching = (pattern: RegExp, expected: string): ((text: string) => string) => {
  return (text) => {
    if (!pattern.test(text)) throw new Error(`must be ${expected}`);
    return text;
  };
};

const isNetwork = (text: string, leastPrefix: number): boolean => {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  if (family === 0 || prefix === undefined) return family !== 0;
  return Number(prefix) >= leastPrefix && Number(prefix) <= (family === 4 ? 32 : 128);
};

/** Reads IP addresses and CIDR ranges, separated by commas. */
export const readNetworks =
  (leastPrefix: number) =>
  (text: string): string[] => {
    const parts = text.split(/[\s,]+/).filter((part) => part !== '');
    const wrong = parts.find((part) => !isNetwork(part, leastPrefix));
    if (wrong !== undefined) throw new Error(`has "${wrong}", which is not an IP address or range`);
    return parts;
  };

/** Reads origins, `https://host` or `https://host:port`, separated by commas. */
export const readOrigins = (text: string): string[] => {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  return parts.map((part) => {
    const url = URL.parse(part);
    const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
    if (!isOrigin) throw new Error(`has "${part}", which is not https://HOST or https://HOST:PORT`);
    return url.origin;
  });
};

/** Formats a storage as `readStorages` parses it. */
export const formatStorage = ({ name, path, address }: RepositoryStorage): string => {
  if (address !== null) return `${name}=${formatRemoteAddress(address)}`;
  return path === null ? name : `${name}=${path}`;
};

/** Formats an address: `[::1]:8080`. */
export const formatAddress = ({ host, port }: Address): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Formats the address of a gitd: `tls://10.0.0.5:9060`. */
export const formatRemoteAddress = ({ isTls = false, ...address }: RemoteStorage): string =>
  `${isTls ? 'tls' : 'tcp'}://${formatAddress(address)}`;

const readStorage = (part: string): RepositoryStorage => {
  const [, name, place] = /^([A-Za-z0-9_-]{1,64})(?:=(.+))?$/.exec(part) ?? [];
  if (name === undefined)
    throw new Error(
      `has "${part}", which is not NAME, NAME=FOLDER, NAME=tls://HOST:PORT or NAME=tcp://HOST:PORT`,
    );
  if (place === undefined) return { name, path: null, address: null };
  const [, scheme, at] = /^(tcp|tls):\/\/(.*)$/.exec(place) ?? [];
  if (at === undefined) return { name, path: resolve(place), address: null };
  return { name, path: null, address: { ...readAddress(at), isTls: scheme === 'tls' } };
};

export const readStorages = (text: string): RepositoryStorage[] => {
  const parts = text.split(',').map((part) => part.trim());
  const storages = parts.map(readStorage);
  if (new Set(storages.map(({ name }) => name)).size < parts.length) throw new Error('names a storage twice');
  return storages;
};

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export type LogLevel = (typeof logLevels)[number];

export const readLevel = (text: string): LogLevel => {
  const level = logLevels.find((one) => one === text);
  if (level === undefined) throw new Error(`must be one of ${logLevels.join(', ')}`);
  return level;
};

export const readCount = (text: string): number => {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new Error('must be a whole number from 1 to 999');
  return Number(text);
};

const readNumber =
  (what: string) =>
  (text: string): number => {
    if (!/^\d{1,7}$/.test(text)) throw new Error(`must be ${what}`);
    return Number(text);
  };

export const readLimit = readNumber('a whole number');
export const readMilliseconds = readNumber('a whole number of milliseconds');
export const readSeconds = readNumber('a whole number of seconds');
export const readMegabytes = readNumber('a whole number of megabytes');

export const runnerExecutors = ['auto', 'sandbox', 'container', 'shell', 'none'] as const;
export type RunnerExecutor = (typeof runnerExecutors)[number];

export const readExecutor = (text: string): RunnerExecutor => {
  const executor = runnerExecutors.find((name) => name === text);
  if (executor === undefined) throw new Error(`must be one of ${runnerExecutors.join(', ')}`);
  return executor;
};

export const readYes = (text: string): boolean => {
  if (text !== 'true' && text !== 'false') throw new Error('must be true or false');
  return text === 'true';
};
