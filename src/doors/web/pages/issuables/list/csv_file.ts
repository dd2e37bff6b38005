/** Streams a list as a CSV file, for spreadsheets. */
import { Readable } from 'node:stream';
import type { PageRequest } from '../../../../../platform/http/page.ts';
import { RawPage } from '../../../page.ts';

const recordsPerRead = 500;

/** Columns by their heading. */
export type Columns<T> = Readonly<Record<string, (record: T) => string | number>>;

/** Quotes a value. Spreadsheets run what starts as a formula, so an apostrophe makes it text. */
const cell = (value: string | number): string => {
  const text = String(value);
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};

const line = (values: readonly (string | number)[]): string => `${values.map(cell).join(',')}\r\n`;

/** Where a read starts in a list, oldest record first: a long list costs no more at its end. */
export type Start = {
  /** Time of the last record that was read, in milliseconds; undefined: from the first record. */
  created_after?: number;
  /** The page, which skips the records of that time that were read. */
  page: PageRequest;
};

type Dated = { created_at: string };

/** Records of one read. Records that were deleted meanwhile are missing, so that their number does not tell the last. */
export type Batch<T> = { records: T[]; isLast: boolean };

type CsvFile<T> = {
  /** Name of the file. */
  name: string;
  columns: Columns<T>;
  /** Reads records from a place on, by the time of their creation. */
  read: (start: Start) => Promise<Batch<T>>;
};

const toPage = (skipped: number): PageRequest => ({
  page: 1,
  per_page: recordsPerRead,
  limit: recordsPerRead,
  offset: skipped,
});

const firstStart: Start = { page: toPage(0) };

const startAfter = (records: readonly Dated[], start: Start): Start => {
  const last = records.at(-1)?.created_at;
  if (last === undefined) return start;
  const { created_after, page } = start;
  const time = Date.parse(last);
  const sameTime = records.filter(({ created_at }) => created_at === last).length;
  return { created_after: time, page: toPage(sameTime + (time === created_after ? page.offset : 0)) };
};

const toLines = <T>(records: readonly T[], columns: Columns<T>): string =>
  records.map((record) => line(Object.values(columns).map((read) => read(record)))).join('');

const writeLines = async function* writeLines<T extends Dated>(
  { columns, read }: CsvFile<T>,
  first: Batch<T>,
): AsyncGenerator<string> {
  yield line(Object.keys(columns)) + toLines(first.records, columns);
  let [batch, start] = [first, firstStart];
  while (!batch.isLast) {
    start = startAfter(batch.records, start);
    batch = await read(start);
    yield toLines(batch.records, columns);
  }
};

/** Returns all records of a list as a file, which is read while it is sent. @throws what the first read throws */
export const csvFile = async <T extends Dated>(file: CsvFile<T>): Promise<RawPage> =>
  new RawPage(Readable.from(writeLines(file, await file.read(firstStart))), {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${file.name}"`,
    'content-security-policy': "default-src 'none'; sandbox",
  });
