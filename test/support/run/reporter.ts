/** Reports test events to `test/run.ts`, one JSON object a line; see `Report`. */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { readProcessorNote } from './processor_seconds.ts';

/**
 * `begin` and `done`: a file starts or ends, reported immediately; the others come in the order of the tests. `text`:
 * output of a file's own process. `processor`: the processor time of a file in `seconds`. `end`: the run finished.
 * `name` includes the names of the suites; `suite` is the test file; otherwise `seconds` is the duration of a file or
 * a test.
 */
export type Report = {
  kind: 'begin' | 'done' | 'pass' | 'fail' | 'skip' | 'text' | 'processor' | 'end';
  file?: string;
  name?: string;
  suite?: string;
  message?: string;
  seconds?: number;
};

// oxlint-disable-next-line import/no-default-export -- node takes a reporter this way only
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const read = reader();
  for await (const event of events) {
    const found = read(event);
    if (found) yield `${JSON.stringify(found)}\n`;
  }
}

/** Consumes events in the reported order: a suite starts, its tests start and end, the suite ends. */
const reader = () => {
  const names: string[] = [];
  let seen = 0;

  const started = ({ name, nesting }: { name: string; nesting: number }): undefined => {
    names[nesting] = name;
    seen = isFile(name) ? 0 : seen + 1;
  };

  const ended = (event: Ended): Report | undefined => {
    const { data } = event;
    const path = [...names.slice(0, data.nesting), data.name].filter((one) => !isFile(one));
    const at = {
      file: place(names[0], data),
      name: path.join(' › '),
      suite: names[0] ?? '',
      seconds: data.details.duration_ms / 1000,
    };
    const error = 'error' in data.details ? data.details.error : undefined;
    if (data.skip !== undefined || data.todo !== undefined) return { kind: 'skip', ...at };
    if (error && !isEcho(error)) return { kind: 'fail', ...at, message: readable(error) };
    if (isFile(data.name) && seen === 0) return { kind: 'fail', ...at, message: 'this file holds no test' };
    return error || data.details.type === 'suite' ? undefined : { kind: 'pass', ...at };
  };

  return (event: TestEvent): Report | undefined => {
    switch (event.type) {
      case 'test:start':
        return started(event.data);
      case 'test:dequeue':
        return isFile(event.data.name) ? { kind: 'begin', file: event.data.name } : undefined;
      case 'test:complete':
        return isFile(event.data.name)
          ? { kind: 'done', file: event.data.name, seconds: event.data.details.duration_ms / 1000 }
          : undefined;
      case 'test:pass':
      case 'test:fail':
        return ended(event);
      case 'test:diagnostic':
        return noted(event.data.message);
      case 'test:stdout':
      case 'test:stderr':
        return { kind: 'text', message: event.data.message };
      case 'test:summary':
        return event.data.file?.endsWith('.test.ts') ? undefined : { kind: 'end' };
      default:
        return undefined;
    }
  };
};

const noted = (message: string): Report | undefined => {
  if (message.includes('asynchronous activity after the test ended'))
    return { kind: 'fail', file: '', name: 'after its end', message };
  const processor = readProcessorNote(message);
  return processor && { kind: 'processor', ...processor };
};

type Ended = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>;
type Place = { file?: string | undefined; line?: number | undefined };

const isFile = (name: string): boolean => name.endsWith('.test.ts');

/** Whether a suite or test failed only because one inside it failed. */
const isEcho = (error: Error & { failureType?: string }): boolean => error.failureType === 'subtestsFailed';

const place = (suite: string | undefined, { file, line }: Place): string => {
  const path = file === undefined ? '' : relative(process.cwd(), file);
  const at = line === undefined ? path : `${path}:${line}`;
  return suite !== undefined && isFile(suite) && suite !== path ? `${suite} (${at})` : at;
};

const readable = (error: Error & { cause?: unknown }): string => {
  const reason = error.cause ?? error;
  const text = reason instanceof Error ? (reason.stack ?? reason.message) : inspect(reason);
  const causes =
    reason instanceof Error && reason.cause !== undefined ? `\ncause: ${inspect(reason.cause)}` : '';
  const lines = `${text}${causes}`.split('\n');
  return lines.filter((line) => !/^\s+at .*\(?node:(internal|async_hooks)/.test(line)).join('\n');
};
