/** Where the submodules of a commit come from, as its `.gitmodules` says. */
import type { Oid } from '../../../platform/git/protocol_types.ts';
import type { Code } from '../find_code.ts';

const maxBytes = 64 * 1024;

/** Reads `.gitmodules`: the addresses by path. Comments and other settings are left out. */
export const parseSubmodules = (text: string): Map<string, string> => {
  const urls = new Map<string, string>();
  for (const section of text.split(/^[ \t]*\[/m)) {
    if (!section.startsWith('submodule ')) continue;
    const getValue = (name: string): string | undefined =>
      new RegExp(`^[ \\t]*${name}[ \\t]*=[ \\t]*"?([^"\\r\\n]*?)"?[ \\t]*$`, 'm').exec(section)?.[1];
    const [path, url] = [getValue('path'), getValue('url')];
    if (path !== undefined && url !== undefined) urls.set(path, url);
  }
  return urls;
};

/** Loads the addresses of the submodules of a commit, by path. */
export const loadSubmodules = async (
  { repository }: Pick<Code, 'repository'>,
  commit: Oid,
): Promise<Map<string, string>> => {
  const { result, body } = await repository.read('blob.at', { commit, path: '.gitmodules', max: maxBytes });
  return result?.whole === true ? parseSubmodules(body.toString('utf8')) : new Map();
};
