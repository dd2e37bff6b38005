import { Writable } from 'node:stream';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from '../config.ts';

/** Keys whose values never reach a log, wherever they stand. */
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

/** One log line for a person at a terminal. */
const readable = (text: string): string => {
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
      process.stdout.write(readable(text));
      done();
    },
  });

const largestChunk = 8 * 1024;

/** Standard output: the lines of one turn of the event loop in one write, none left behind at the end. */
const output = (): DestinationStream => {
  const destination = pino.destination({ fd: 1, sync: true, minLength: largestChunk });
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

/** JSON lines on standard output; on a terminal, lines to read. */
export const makeLog = ({ log_level }: Config): Logger =>
  pino({ level: log_level, redact, base: null }, process.stdout.isTTY ? terminal() : output());
