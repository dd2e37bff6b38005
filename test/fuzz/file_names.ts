/** Names of uploaded files that repeat a fragment, wherever files are received. */
import type { AnyEndpoint } from '../../src/platform/http/endpoint.ts';
import { getFileParams } from '../../src/platform/http/body/file_parts.ts';
import { type Probe, fillPath, knownValues, repeated, texts } from './fragments.ts';
import type { Place } from './path_params.ts';

type FileDoor = { method: string; url: string; field: string };

/** Files that are streamed, which no parameter declares. */
const streamed: FileDoor = { method: 'POST', url: '/api/v4/projects/1/uploads', field: 'file' };

/** Returns where endpoints or pages receive files, and the field of each. */
export const fileDoorsOf = (
  endpoints: readonly AnyEndpoint<never>[],
  places: readonly Place[],
  seed: number,
  prefix = '/api/v4',
): FileDoor[] => [
  ...endpoints.flatMap((endpoint) => {
    const { method, path, params } = endpoint;
    const url = prefix + fillPath(path, knownValues(endpoint, places, seed).inPath);
    return getFileParams(params).map((field) => ({ method, url, field }));
  }),
  ...(prefix === '' ? [] : [streamed]),
];

/** Names of files, in the head of a part. */
export const fileNameProbes = (doors: readonly FileDoor[]): Probe[] =>
  doors.flatMap(({ method, url, field }) =>
    ['filename="', "filename*=utf-8''"].flatMap((name) =>
      [...texts, 'a.', '.', 'é', '%CC%81'].map((fragment) => ({
        name: `${method} ${url}: ${field}: file name ${name}${JSON.stringify(fragment)}`,
        longest: 64 * 1024,
        of: (length: number) => {
          const text = repeated(fragment.replace(/[\r\n"]/g, '_'), length);
          const disposition = `content-disposition: form-data; name="${field}"`;
          const head = `${disposition}; ${name}${text}${name.endsWith('"') ? '"' : ''}`;
          const body = `--x\r\n${head}\r\n\r\nx\r\n--x--\r\n`;
          return { method, url, type: 'multipart/form-data; boundary=x', body };
        },
      })),
    ),
  );
