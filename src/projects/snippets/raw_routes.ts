/** Endpoints of the texts of a snippet, and of what created it. */
import { endpoint } from '../../core/access/endpoint.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { bool, id, object, string, text } from '../../platform/http/schema.ts';
import { loadFile } from './files.ts';
import { currentRef } from './json.ts';
import { findSnippet, loadContent, loadUserAgent } from './queries.ts';
import { type SnippetEndpoints, shared } from './personal_or_project.ts';
import { missing } from './snippet_home.ts';

/** Headers of the text: always plain, whatever the file name suggests. */
export const plainHeaders = {
  'content-type': 'text/plain; charset=utf-8',
  'content-disposition': 'inline',
  'content-security-policy': "default-src 'none'; sandbox",
};

const rawText = ({ word, one, param, home, toHome, getSnippetId }: SnippetEndpoints) =>
  endpoint({
    method: 'GET',
    path: `${one}/raw`,
    summary: `Get the text of ${word}`,
    ...shared,
    reply: null,
    content: 'text/plain',
    params: object({ ...home, [param]: id() }),
    handle: async (call, params) => {
      const snippet = await findSnippet(call, call.db, await toHome(call, params), getSnippetId(params));
      return new Answer(await loadContent(call.db, snippet.id), { headers: plainHeaders });
    },
  });

/** Names of the only version of a snippet. */
const currentRefs = [currentRef, 'master', 'HEAD'];

const rawFile = ({ word, one, param, home, toHome, getSnippetId }: SnippetEndpoints) =>
  endpoint({
    method: 'GET',
    path: `${one}/files/:ref/:file_path/raw`,
    summary: `Get the text of a file of ${word}`,
    ...shared,
    reply: null,
    content: 'text/plain',
    params: object({ ...home, [param]: id(), ref: text(), file_path: text() }),
    handle: async (call, params) => {
      const snippet = await findSnippet(call, call.db, await toHome(call, params), getSnippetId(params));
      if (!currentRefs.includes(params.ref)) throw missing();
      return new Answer(await loadFile(call.db, snippet.id, params.file_path), { headers: plainHeaders });
    },
  });

const userAgentDetail = ({ word, one, param, home, toHome, getSnippetId }: SnippetEndpoints) =>
  endpoint({
    method: 'GET',
    path: `${one}/user_agent_detail`,
    summary: `Get the user agent and IP address ${word} was created from (administrators)`,
    ...shared,
    audience: 'admin',
    reply: object({ user_agent: string, ip_address: string, spam_check_submitted: bool }),
    params: object({ ...home, [param]: id() }),
    handle: async (call, params) => {
      const snippet = await findSnippet(call, call.db, await toHome(call, params), getSnippetId(params));
      return { ...(await loadUserAgent(call.db, snippet.id)), spam_check_submitted: false };
    },
  });

export const rawRoutes = (endpoints: SnippetEndpoints) => [
  rawText(endpoints),
  rawFile(endpoints),
  userAgentDetail(endpoints),
];
