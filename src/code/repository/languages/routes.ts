import { endpoint } from '../../../core/access/endpoint.ts';
import { anything, object } from '../../../platform/http/schema.ts';
import { findCode, projectParam } from '../find_code.ts';
import { loadLanguages } from './load_languages.ts';

export const languages = endpoint({
  method: 'GET',
  path: '/projects/:id/languages',
  summary: 'Get the languages of the default branch in percent',
  area: 'repositories',
  audience: 'optional',
  params: object({ id: projectParam }),
  // The keys are names of languages.
  reply: anything,
  handle: async (call, { id }) => {
    const shares = await loadLanguages(await findCode(call, id));
    return Object.fromEntries(shares.map(({ name, percent }) => [name, percent]));
  },
});
