import { unsupportedType } from './failure.ts';
import { parseForm } from './form.ts';
import { parseJson } from './json_body.ts';
import { parseMultipart } from './multipart.ts';
import type { RawParams } from './params.ts';

export const largestBody = 2 * 1024 * 1024;
export const longestQuery = 8 * 1024;

/** A form; or JSON that a client such as `curl --data '{...}'` sent under a form's content type. */
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
 * The parameters of a request body. Anybody may send one, so each form of it takes 20 ms of CPU at most: its parts,
 * names and values are counted before or while it is parsed.
 * @throws Failure 400 for a body that does not parse, 406 for a content type that is not known
 */
export const parseBody = async (
  method: string,
  contentType: string | undefined,
  body: Buffer | undefined,
): Promise<RawParams> => {
  if (body === undefined || body.length === 0) return {};
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  switch (type) {
    case 'application/json':
      return parseJson(body);
    case 'application/x-www-form-urlencoded':
      return parseFormOrJson(body);
    case 'multipart/form-data':
      return await parseMultipart(contentType ?? '', body, largestBody);
    case 'text/plain':
      return {};
    case '':
      return method === 'POST' ? parseFormOrJson(body) : {};
    default:
      throw unsupportedType(type);
  }
};
