/** Streams a list as a CSV file, for spreadsheets. */
import { Readable } from 'node:stream';
import { RawPage } from '../../../page.ts';

/** Records of one file. */
const maxRecords = 10_000;

/** Records of one read. */
export const recordsPerRead = 100;

/** Columns by their heading. */
export type Columns<T> = Readonly<Record<string, (record: T) => string | number>>;

/** Quotes a value. Spreadsheets run what starts as a formula, so an apostrophe makes it text. */
const cell = (value: string | number): string => {
  const text = String(value);
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};

const line = (values: readonly (string | number)[]): string => `${values.map(cell).join(',')}\r\n`;

type CsvFile<T> = {
  /** Name of the file. */
  name: string;
  columns: Columns<T>;
  /** Reads a page of the list, oldest record first, so that new records do not move the others. */
  read: (page: number) => Promise<T[]>;
};

const toLines = <T>(records: readonly T[], columns: Columns<T>): string =>
  records.map((record) => line(Object.values(columns).map((read) => read(record)))).join('');

const writeLines = async function* writeLines<T>(
  { columns, read }: CsvFile<T>,
  first: T[],
): AsyncGenerator<string> {
  yield line(Object.keys(columns)) + toLines(first, columns);
  let last = first;
  for (let page = 2; page <= maxRecords / recordsPerRead && last.length === recordsPerRead; page++) {
    last = await read(page);
    yield toLines(last, columns);
  }
};

/** Returns the records of a list, at most 10,000, as a file. @throws what the first read throws */
export const csvFile = async <T>(file: CsvFile<T>): Promise<RawPage> =>
  new RawPage(Readable.from(writeLines(file, await file.read(1))), {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${file.name}"`,
    'content-security-policy': "default-src 'none'; sandbox",
  });
