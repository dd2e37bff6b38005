/** Reads the raw diff of a commit, and formats it as a patch for `git am`. */
import { Failure } from '../../../platform/errors.ts';
import type { Commit, Signature } from '../../../platform/git/protocol_types.ts';
import { shortMonthNames } from '../../../platform/time.ts';
import type { Code } from '../find_code.ts';

export const maxPatchBytes = 32 * 1024 * 1024;

/** Returns the diff of a commit against its first parent. @throws Failure 422 if it exceeds the size limit */
export const readRawDiff = async (
  { repository }: Pick<Code, 'repository'>,
  { id, parents }: Pick<Commit, 'id' | 'parents'>,
): Promise<Buffer> => {
  const request = { from: parents[0] ?? null, to: id, max: maxPatchBytes };
  const { result, body } = await repository.read('diff.raw', request);
  if (!result.whole) throw new Failure('unprocessable', { message: 'The diff is too large' });
  return body;
};

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** The last second that has a year of four digits. */
const maxMailSeconds = 253_402_300_799;

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** Formats a time as e-mail does: `Mon, 17 Sep 2001 00:00:00 +0000`. */
const mailDate = ({ time }: Signature): string => {
  const date = new Date(Math.min(Math.max(time, 0), maxMailSeconds) * 1_000);
  const day = `${days[date.getUTCDay()]}, ${date.getUTCDate()} ${shortMonthNames[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
  return `${day} ${twoDigits(date.getUTCHours())}:${twoDigits(date.getUTCMinutes())}:${twoDigits(date.getUTCSeconds())} +0000`;
};

/** Collapses white space, so that a header stays on one line. */
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/**
 * Returns a commit as a patch, as `git format-patch` does.
 * @param prefix before its title; of a series also its number, such as `PATCH 2/3`
 * @throws Failure 422 if it exceeds the size limit
 */
export const readPatch = async (
  code: Pick<Code, 'repository'>,
  commit: Commit,
  prefix = 'PATCH',
): Promise<Buffer> => {
  const { id, author, message } = commit;
  const [title = '', ...rest] = message.trim().split(/\n\n/);
  const body = rest.join('\n\n').trim();
  // git marks patches by this fixed date.
  const head = `From ${id} Mon Sep 17 00:00:00 2001
From: ${oneLine(author.name)} <${oneLine(author.email)}>
Date: ${mailDate(author)}
Subject: [${prefix}] ${oneLine(title)}

${body === '' ? '' : `${body}\n`}---

`;
  return Buffer.concat([Buffer.from(head), await readRawDiff(code, commit), Buffer.from('-- \nGantry\n\n')]);
};
