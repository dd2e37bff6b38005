import type { Call } from '../../../core/access/call.ts';
import type { Answer } from '../../../platform/http/endpoint.ts';
import type { Code } from '../find_code.ts';
import { type LoadedFile, toFileHeaders } from './find_file.ts';
import { streamedAnswer, wholeAnswer } from './serve_blob.ts';

/**
 * Serves the raw content of a loaded file, for the API and for pages.
 * @param headers replace the headers of the file
 */
export const serveFile = async (
  call: Call,
  { repository }: Pick<Code, 'repository'>,
  loaded: LoadedFile,
  headers: Record<string, string> = {},
): Promise<Answer> => {
  const { file, content } = loaded;
  const servedFile = {
    name: file.file_name,
    size: file.size,
    headers: { ...toFileHeaders(loaded), ...headers },
  };
  if (content !== null) return wholeAnswer(content, servedFile);
  return await streamedAnswer(call, repository, { id: file.blob_id }, servedFile);
};
