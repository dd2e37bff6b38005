/** Paths and parameters in which the endpoints of personal snippets and of snippets of projects differ. */
import type { Call } from '../../core/access/call.ts';
import { idOrPath } from '../../platform/http/schema.ts';
import { snippetShape } from './json.ts';
import { type Home, openHome } from './snippet_home.ts';

export const shared = { area: 'snippets', audience: 'user', reply: snippetShape } as const;

export const describeEndpoints = (kind: 'personal' | 'project') => {
  const isPersonal = kind === 'personal';
  const path = isPersonal ? '/snippets' : '/projects/:id/snippets';
  const param = isPersonal ? 'id' : 'snippet_id';
  return {
    word: isPersonal ? 'a snippet' : 'a snippet of a project',
    path,
    param,
    one: `${path}/:${param}`,
    home: isPersonal ? {} : { id: idOrPath('project') },
    toHome: (call: Call, input: Record<string, unknown>): Promise<Home> =>
      openHome(call, isPersonal ? undefined : (input['id'] as number | string)),
    getSnippetId: (input: Record<string, unknown>): number => input[param] as number,
  };
};

export type SnippetEndpoints = ReturnType<typeof describeEndpoints>;
