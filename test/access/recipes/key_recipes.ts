/** Requests for the rows about keys, snippets and uploads. */
import { unique } from '../../support/seed.ts';
import { freshKey } from '../../support/repositories/ssh_keys.ts';
import { makeGpgKey } from '../../support/repositories/gpg_keys.ts';
import {
  anothersEmail,
  anothersGpgKey,
  anothersKey,
  deployKeyOfInstance,
  deployKeyOfIt,
  deployKeyOfOthers,
  ownEmail,
  ownGpgKey,
  ownKey,
  snippet,
  upload,
} from '../makers/key_makers.ts';
import { type Maker, freshProject } from '../makers/makers.ts';
import type { Recipe } from './recipes.ts';

const newKey = () => ({ title: 'Made', key: freshKey() });
const newGpgKey = () => ({ key: makeGpgKey('made@example.com').text });
const newEmail = () => ({ email: `${unique('made')}@example.com` });
const newSnippet = () => ({ title: 'Made', content: 'Made', file_name: 'a.txt' });
const edited = () => ({ title: 'Other' });

const ownKeys = '/user/keys/:key_id';
const ownGpgKeys = '/user/gpg_keys/:key_id';
const deployKeys = '/projects/:id/deploy_keys';
/** Names a template of the package. */
const templateKey =
  (key: string): Maker =>
  async (_tx, cells) => {
    for (const { names } of cells) names['key'] = key;
    await Promise.resolve();
  };

const templateOfProject = (type: string, key: string): Record<string, Recipe> => ({
  [`GET /projects/:id/templates/${type}/:name`]: { makes: [templateKey(key)], path: { name: 'key' } },
});
const templatesOfProject: Record<string, Recipe> = {
  ...templateOfProject('dockerfiles', 'Node'),
  ...templateOfProject('gitignores', 'Node'),
  ...templateOfProject('gitlab_ci_ymls', 'Nodejs'),
  ...templateOfProject('licenses', 'mit'),
  ...templateOfProject('issues', 'Made'),
  ...templateOfProject('merge_requests', 'Made'),
};

const holdsKey: Recipe['holds'] = ({ id }, names) => id === names['key_id'];

const keyRecipes: Record<string, Recipe> = {
  'POST /user/keys': { body: newKey },
  'POST /deploy_keys': { body: newKey },
  'DELETE /deploy_keys/:key_id': { makes: [deployKeyOfInstance] },
  [`GET ${ownKeys} {own}`]: { makes: [ownKey] },
  [`GET ${ownKeys} {another's}`]: { makes: [anothersKey] },
  [`DELETE ${ownKeys} {own}`]: { makes: [ownKey] },
  [`DELETE ${ownKeys} {another's}`]: { makes: [anothersKey] },
  'POST /user/emails': { body: newEmail },
  'GET /user/emails/:email_id {own}': { makes: [ownEmail] },
  "GET /user/emails/:email_id {another's}": { makes: [anothersEmail] },
  'DELETE /user/emails/:email_id {own}': { makes: [ownEmail] },
  "DELETE /user/emails/:email_id {another's}": { makes: [anothersEmail] },
  'GET /users/:id/emails': { path: { id: 'writer' } },
  // The writer has the addresses of other rows, and a user may have at most 20.
  'POST /users/:id/emails': { path: { id: 'newcomer' }, body: newEmail },
  'GET /users/:id/emails/:email_id': { makes: [anothersEmail] },
  'DELETE /users/:id/emails/:email_id': { makes: [anothersEmail] },
  'POST /user/gpg_keys': { body: newGpgKey },
  [`GET ${ownGpgKeys} {own}`]: { makes: [ownGpgKey] },
  [`GET ${ownGpgKeys} {another's}`]: { makes: [anothersGpgKey] },
  [`DELETE ${ownGpgKeys} {own}`]: { makes: [ownGpgKey] },
  [`DELETE ${ownGpgKeys} {another's}`]: { makes: [anothersGpgKey] },
  [`POST ${ownGpgKeys}/revoke {own}`]: { makes: [ownGpgKey] },
  [`POST ${ownGpgKeys}/revoke {another's}`]: { makes: [anothersGpgKey] },
  'GET /users/:id/gpg_keys': { makes: [anothersGpgKey] },
  'GET /users/:id/gpg_keys/:key_id': { makes: [anothersGpgKey] },
  // The writer has the keys of other rows, and a user may have at most 100.
  'POST /users/:id/gpg_keys': { path: { id: 'newcomer' }, body: newGpgKey },
  'DELETE /users/:id/gpg_keys/:key_id': { makes: [anothersGpgKey] },
  'POST /users/:id/gpg_keys/:key_id/revoke': { makes: [anothersGpgKey] },
  'GET /users/:id/keys': { makes: [anothersKey] },
  'GET /users/:id/keys/:key_id': { makes: [anothersKey] },
  'POST /users/:id/keys': { path: { id: 'writer' }, body: newKey },
  'DELETE /users/:id/keys/:key_id': { makes: [anothersKey] },
  'GET /keys': { makes: [anothersKey], query: 'fingerprint=:fingerprint' },
  'GET /templates/dockerfiles/:key': { makes: [templateKey('Node')] },
  'GET /templates/gitignores/:key': { makes: [templateKey('Node')] },
  'GET /templates/gitlab_ci_ymls/:key': { makes: [templateKey('Nodejs')] },
  'GET /templates/licenses/:key': { makes: [templateKey('mit')] },
  ...templatesOfProject,
  'GET /keys/:id': { makes: [anothersKey] },
  [`GET ${deployKeys}`]: { makes: [freshProject, deployKeyOfIt], holds: holdsKey },
  [`POST ${deployKeys}`]: { body: newKey },
  [`GET ${deployKeys}/:key_id`]: { makes: [deployKeyOfIt] },
  [`PUT ${deployKeys}/:key_id`]: { makes: [deployKeyOfIt], body: () => ({ can_push: true }) },
  [`DELETE ${deployKeys}/:key_id`]: { makes: [deployKeyOfIt] },
  [`POST ${deployKeys}/:key_id/enable {its own}`]: { makes: [deployKeyOfIt] },
  [`POST ${deployKeys}/:key_id/enable {of others}`]: { makes: [deployKeyOfOthers] },
};

const made = (by: 'self' | 'writer', visibility: 'private' | 'internal' | 'public') => ({
  makes: [snippet({ by, visibility, personal: true })],
});
const one = '/snippets/:id';
const fileOf = (path: string): string => `${path}/files/:ref/:file_path/raw`;
const fileNames = { path: { ref: 'snippet_ref', file_path: 'snippet_file' } };

const personalRecipes: Record<string, Recipe> = {
  'POST /snippets': { body: newSnippet },
  [`GET ${one} {own}`]: made('self', 'private'),
  [`GET ${one} {another's, private}`]: made('writer', 'private'),
  [`GET ${one} {another's, internal}`]: made('writer', 'internal'),
  [`GET ${one} {another's, public}`]: made('writer', 'public'),
  [`PUT ${one} {own}`]: { ...made('self', 'private'), body: edited },
  [`PUT ${one} {another's, private}`]: { ...made('writer', 'private'), body: edited },
  [`PUT ${one} {another's, public}`]: { ...made('writer', 'public'), body: edited },
  [`DELETE ${one} {own}`]: made('self', 'private'),
  [`DELETE ${one} {another's, private}`]: made('writer', 'private'),
  [`DELETE ${one} {another's, public}`]: made('writer', 'public'),
  [`GET ${one}/raw {own}`]: made('self', 'private'),
  [`GET ${one}/raw {another's, private}`]: made('writer', 'private'),
  [`GET ${one}/raw {another's, public}`]: made('writer', 'public'),
  [`GET ${fileOf(one)} {own}`]: { ...made('self', 'private'), ...fileNames },
  [`GET ${fileOf(one)} {another's, private}`]: { ...made('writer', 'private'), ...fileNames },
  [`GET ${fileOf(one)} {another's, public}`]: { ...made('writer', 'public'), ...fileNames },
  [`GET ${one}/user_agent_detail`]: made('writer', 'private'),
};

const inProject = (by: 'self' | 'writer', visibility: 'private' | 'public') => ({
  makes: [snippet({ by, visibility })],
});
const snippets = '/projects/:id/snippets';
const ofProject = `${snippets}/:snippet_id`;
/** In a project of its own: in the shared one it would be on a later page. */
const inList = (visibility: 'private' | 'public'): Recipe => ({
  makes: [freshProject, snippet({ by: 'writer', visibility })],
  holds: ({ id }, names) => id === names['snippet_id'],
});

const file = [
  '--x',
  'content-disposition: form-data; name="file"; filename="a.txt"',
  '',
  'Made',
  '--x--',
  '',
].join('\r\n');

const projectRecipes: Record<string, Recipe> = {
  [`GET ${snippets} {a private one}`]: inList('private'),
  [`GET ${snippets} {a public one}`]: inList('public'),
  [`POST ${snippets}`]: { body: newSnippet },
  [`GET ${ofProject} {own}`]: inProject('self', 'private'),
  [`GET ${ofProject} {another's, private}`]: inProject('writer', 'private'),
  [`GET ${ofProject} {another's, public}`]: inProject('writer', 'public'),
  [`PUT ${ofProject} {own}`]: { ...inProject('self', 'private'), body: edited },
  [`PUT ${ofProject} {another's, private}`]: { ...inProject('writer', 'private'), body: edited },
  [`PUT ${ofProject} {another's, public}`]: { ...inProject('writer', 'public'), body: edited },
  [`DELETE ${ofProject} {own}`]: inProject('self', 'private'),
  [`DELETE ${ofProject} {another's, private}`]: inProject('writer', 'private'),
  [`DELETE ${ofProject} {another's, public}`]: inProject('writer', 'public'),
  [`GET ${ofProject}/raw {another's, private}`]: inProject('writer', 'private'),
  [`GET ${ofProject}/raw {another's, public}`]: inProject('writer', 'public'),
  [`GET ${fileOf(ofProject)} {another's, private}`]: { ...inProject('writer', 'private'), ...fileNames },
  [`GET ${fileOf(ofProject)} {another's, public}`]: { ...inProject('writer', 'public'), ...fileNames },
  [`GET ${ofProject}/user_agent_detail`]: inProject('writer', 'public'),
  'POST /projects/:id/uploads': { form: file },
  'GET /projects/:id/uploads/:secret/:filename': { makes: [upload] },
};

export const moreRecipes = { ...keyRecipes, ...personalRecipes, ...projectRecipes };
