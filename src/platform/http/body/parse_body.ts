import { unsupportedType } from '../failure.ts';
import { parseForm } from './form.ts';
import { parseJson } from './json_body.ts';
import { parseMultipart } from './multipart.ts';
import { withPlainLineEnds } from './plain_line_ends.ts';
import type { RawParams } from '../params.ts';

export const maxBodyBytes = 2 * 1024 * 1024;
export const maxQueryBytes = 8 * 1024;

/** Parses a form, or JSON that a client such as `curl --data '{...}'` sent with a form's content type. */
const parseFormOrJson = (body: Buffer): RawParams => {
  const text = body.toString('utf8');
  if (!text.trimStart().startsWith('{')) return parseForm(text);
  try {
    return parseJson(body);
  } catch {
    return parseForm(text);
  }
};

/**
 * Parses the parameters of a request body. Requests are not authenticated yet, so each format takes at most 20 ms of
 * CPU: parts, names and values are counted before or during parsing.
 * @param keepsFiles keeps the content of files, for `getReceivedFiles`; by default only their names
 * @throws Failure 400 for an invalid body, 406 for an unknown content type
 */
export const parseBody = async (
  method: string,
  contentType: string | undefined,
  body: Buffer | undefined,
  keepsFiles = false,
): Promise<RawParams> => {
  if (body === undefined || body.length === 0) return {};
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  switch (type) {
    case 'application/json':
      return parseJson(body);
    case 'application/x-www-form-urlencoded':
      return parseFormOrJson(body);
    case 'multipart/form-data':
      return await parseMultipart({
        contentType: contentType ?? '',
        body,
        maxValueBytes: maxBodyBytes,
        keepsFiles,
      });
    case 'text/plain':
      return {};
    case '':
      return method === 'POST' ? parseFormOrJson(body) : {};
    default:
      throw unsupportedType(type);
  }
};

/**
 * Parses the form of a page, with its files (`getFileParts`). Lines of its texts end in LF.
 * @throws Failure 400, 406
 */
export const parsePageForm = async (
  contentType: string | undefined,
  body: Buffer | undefined,
): Promise<RawParams> => withPlainLineEnds(await parseBody('POST', contentType, body, true));
