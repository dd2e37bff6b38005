import { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from '../../platform/config/fields.ts';

/** Keys whose values are redacted in logs, at any depth up to one. */
const secretKeys = [
  'private_token',
  'access_token',
  'bearer_token',
  'job_token',
  'feed_token',
  'password',
  'token',
  'authorization',
];
const redact = { paths: secretKeys.flatMap((key) => [key, `*.${key}`]), censor: '[redacted]' };

type Line = { time: number; level: number; msg: string } & Record<string, unknown>;

const levels: Record<number, { name: string; color: Color }> = {
  10: { name: 'trace', color: 'dim' },
  20: { name: 'debug', color: 'dim' },
  30: { name: 'info', color: 'green' },
  40: { name: 'warn', color: 'yellow' },
  50: { name: 'error', color: 'red' },
  60: { name: 'fatal', color: 'red' },
};

type Color = 'dim' | 'green' | 'yellow' | 'red' | 'cyan';
type Paint = (color: Color, text: string) => string;

const plain: Paint = (_color, text) => text;

const statusColor = (status: number): Color => {
  if (status >= 500) return 'red';
  if (status >= 400) return 'yellow';
  return status >= 300 ? 'cyan' : 'green';
};

/** Replaces control characters: text of others must not act on the terminal. */
const printable = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, '?');

const formatRequest = ({ method, route, path, status, ms }: Record<string, unknown>, paint: Paint): string =>
  `${paint(statusColor(Number(status)), String(status))} ${String(method)} ${printable(String(path ?? route))} ${paint('dim', `${String(ms)} ms`)}`;

const formatValue = (value: unknown): string =>
  typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);

/** Formats the fields of a line: short fields after the message, the stack of an error below it. */
const formatFields = ({ err, ...fields }: Record<string, unknown>, paint: Paint): string => {
  const short = Object.entries(fields).map(
    ([name, value]) => ` ${paint('dim', `${name}=`)}${formatValue(value)}`,
  );
  const { stack } = (err ?? {}) as { stack?: string };
  const below = err === undefined ? [] : printable(stack ?? JSON.stringify(err)).split('\n');
  return [short.join(''), ...below.map((line) => `    ${line}`)].join('\n');
};

/** Formats one JSON log line for people. */
export const formatLine = (text: string, paint: Paint = plain): string => {
  const { time, level, msg, ...rest } = JSON.parse(text) as Line;
  const clock = paint('dim', new Date(time).toISOString().slice(11, 23));
  const { name, color } = levels[level] ?? { name: String(level), color: 'dim' };
  const content = msg === 'request' ? formatRequest(rest, paint) : `${msg}${formatFields(rest, paint)}`;
  return `${clock} ${paint(color, name.padEnd(5))} ${content}\n`;
};

/** Colors text for standard output, unless `NO_COLOR` or the terminal is against it. */
const paintTerminal: Paint = (color, text) => styleText(color, text, { stream: process.stdout });

const terminal = (): Writable =>
  new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => {
      process.stdout.write(formatLine(text, paintTerminal));
      done();
    },
  });

const maxChunkBytes = 8 * 1024;

/** Milliseconds that lines of requests wait for others. Only a killed process loses them. */
const maxDelay = 20;

const isRequestLine = (line: string): boolean => line.endsWith('"msg":"request"}\n');

/**
 * Writes to standard output: the lines of one event loop turn in one write, and lines of requests with those of the
 * next milliseconds, since a write of its own for each costs as much as making it.
 */
const output = (): DestinationStream => {
  const destination = pino.destination({ fd: 1, sync: true, minLength: maxChunkBytes });
  let [isDue, isDelayed] = [false, false];
  const flush = (): void => {
    isDue = false;
    isDelayed = false;
    destination.flush();
  };
  process.on('exit', () => destination.flushSync());
  return {
    write: (line) => {
      destination.write(line);
      if (isDue) return;
      if (!isRequestLine(line)) {
        isDue = true;
        setImmediate(flush);
      } else if (!isDelayed) {
        isDelayed = true;
        setTimeout(flush, maxDelay).unref();
      }
    },
  };
};

/** Makes the logger: JSON lines on standard output; on a terminal, readable lines in color. */
export const makeLog = ({ log_level }: Config): Logger =>
  pino({ level: log_level, redact, base: null }, process.stdout.isTTY ? terminal() : output());
