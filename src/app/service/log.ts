import { Writable } from 'node:stream';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from '../../platform/config/fields.ts';

/** Keys whose values are redacted in logs, at any depth up to one. */
const secretKeys = [
  'private_token',
  'access_token',
  'bearer_token',
  'job_token',
  'password',
  'token',
  'authorization',
];
const redact = { paths: secretKeys.flatMap((key) => [key, `*.${key}`]), censor: '[redacted]' };

type Line = { time: number; level: number; msg: string } & Record<string, unknown>;

const levelNames: Record<number, string> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

/** Formats one JSON log line for a terminal. */
export const formatLine = (text: string): string => {
  const { time, level, msg, ...rest } = JSON.parse(text) as Line;
  const clock = new Date(time).toISOString().slice(11, 23);
  if (msg === 'request') {
    return `${clock} ${String(rest['method'])} ${String(rest['route'])} ${String(rest['status'])} ${String(rest['ms'])} ms\n`;
  }
  const detail = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`;
  return `${clock} ${levelNames[level] ?? level} ${msg}${detail}\n`;
};

const terminal = (): Writable =>
  new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => {
      process.stdout.write(formatLine(text));
      done();
    },
  });

const maxChunkBytes = 8 * 1024;

/** Writes to standard output: the lines of one event loop turn in one write, flushed at the end. */
const output = (): DestinationStream => {
  const destination = pino.destination({ fd: 1, sync: true, minLength: maxChunkBytes });
  let isDue = false;
  process.on('exit', () => destination.flushSync());
  return {
    write: (line) => {
      destination.write(line);
      if (isDue) return;
      isDue = true;
      setImmediate(() => {
        isDue = false;
        destination.flush();
      });
    },
  };
};

/** Makes the logger: JSON lines on standard output; on a terminal, readable lines. */
export const makeLog = ({ log_level }: Config): Logger =>
  pino({ level: log_level, redact, base: null }, process.stdout.isTTY ? terminal() : output());
