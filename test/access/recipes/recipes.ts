/** The recipe of each row of expected.txt: the records that a request needs, and what it sends. */
import { unique } from '../../support/seed.ts';
import {
  type Cell,
  type Maker,
  anothersAward,
  anothersNote,
  anothersNoteAward,
  anothersToken,
  anothersTodo,
  application,
  blockedUser,
  freshGroup,
  freshIssue,
  freshLabel,
  freshMilestone,
  freshProject,
  freshUser,
  impersonationToken,
  newcomerAsMember,
  ownAward,
  ownNote,
  ownNoteAward,
  ownTodo,
  ownToken,
  passingToken,
  servicesNote,
  subscription,
} from '../makers/makers.ts';
import { artifactRecipes } from './ci/artifact_recipes.ts';
import { ciRecipes } from './ci/runner_recipes.ts';
import { moreRecipes } from './key_recipes.ts';
import { snippetNoteRecipes } from './snippet_note_recipes.ts';
import { codeRecipes } from './code_recipes.ts';
import { mergeRecipes } from './merging_recipes.ts';
import { threadedRecipes } from './thread_recipes.ts';
import { requestRecipes } from './merge_request_recipes.ts';
import { eventRecipes } from './event_recipes.ts';
import { environmentRecipes } from './environment_recipes.ts';
import { jobTokenRecipes } from './ci/job_token_recipes.ts';
import { jobRecipes } from './ci/job_recipes.ts';
import { pipelineRecipes } from './ci/pipeline_recipes.ts';
import { runnerApiRecipes } from './ci/runner_api_recipes.ts';
import { scheduleRecipes } from './ci/schedule_recipes.ts';
import { avatarRecipes } from './avatar_recipes.ts';
import { boardRecipes } from './board_recipes.ts';
import { smallCallRecipes } from './small_call_recipes.ts';
import { searchRecipes } from './search_recipes.ts';
import { starRecipes } from './star_recipes.ts';
import { hookRecipes } from './hook_recipes.ts';
import { variableRecipes } from './ci/variable_recipes.ts';
import type { Names } from '../world.ts';

type Item = { id: number; target?: { id: number } };

export type Recipe = {
  /** Steps that run one after another, each for all requests of a row at once. */
  makes?: Maker[];
  /** `:name` is replaced by the value of that name. */
  query?: string;
  body?: (names: Names, cell: Cell) => object;
  /** Instead of JSON: a multipart form with the boundary `x`. */
  form?: string;
  /** Values of path parameters that differ from the usual ones. */
  path?: Record<string, string>;
  /** For lists: whether this item is the record that must (not) be listed. */
  holds?: (item: Item, names: Names) => boolean;
};

const is =
  (name: string) =>
  ({ id }: Item, names: Names): boolean =>
    id === names[name];

const project = '/projects/:id';
const issues = `${project}/issues`;
const issue = `${issues}/:issue_iid`;
const notes = `${issue}/notes`;
const note = `${notes}/:note_id`;
const users = '/users/:user_id';
const tokens = '/personal_access_tokens';
const impersonation = `${users}/impersonation_tokens`;

const tokenBody = () => ({ name: 'made', scopes: ['api'] });
const onIssue: Recipe = { makes: [freshIssue] };
const withDuration: Recipe = { makes: [freshIssue], body: () => ({ duration: '1h' }) };

const instanceRecipes: Record<string, Recipe> = {
  'GET /users {external ones}': { query: 'external=true' },
  'GET /users/:id': { path: { id: 'writer' } },
  'POST /users': {
    body: () => {
      const username = unique('made');
      return { username, name: 'Made', email: `${username}@example.com`, force_random_password: true };
    },
  },
  'PUT /users/:id': { makes: [freshUser], body: () => ({ bio: 'Other' }) },
  'DELETE /users/:id': { makes: [freshUser] },
  'POST /users/:id/block': { makes: [freshUser] },
  'POST /users/:id/unblock': { makes: [blockedUser] },
  [`GET ${impersonation}`]: { path: { user_id: 'writer' } },
  [`POST ${impersonation}`]: { path: { user_id: 'writer' }, body: tokenBody },
  [`GET ${impersonation}/:impersonation_token_id`]: { makes: [impersonationToken] },
  [`DELETE ${impersonation}/:impersonation_token_id`]: { makes: [impersonationToken] },
  [`POST ${users}/personal_access_tokens`]: { path: { user_id: 'writer' }, body: tokenBody },
  'POST /user/personal_access_tokens': { body: tokenBody },
  [`GET ${tokens} {of another}`]: { query: 'user_id=:writer' },
  [`DELETE ${tokens}/self`]: { makes: [passingToken] },
  [`GET ${tokens}/:id {own}`]: { makes: [ownToken] },
  [`GET ${tokens}/:id {another's}`]: { makes: [anothersToken] },
  [`DELETE ${tokens}/:id {own}`]: { makes: [ownToken] },
  [`DELETE ${tokens}/:id {another's}`]: { makes: [anothersToken] },
  'PUT /notification_settings': { body: () => ({ level: 'watch' }) },
  'POST /applications': {
    body: () => ({ name: 'Made', redirect_uri: 'https://app.example.com/back', scopes: 'api' }),
  },
  'DELETE /applications/:id': { makes: [application] },
  'POST /ci/lint': { body: () => ({ content: 'job: { script: make }' }) },
  'POST /markdown {of no project}': { body: () => ({ text: 'A #1', gfm: true }) },
  'POST /projects {personal}': { body: () => ({ name: unique('made') }) },
  'POST /projects/user/:user_id': { path: { user_id: 'writer' }, body: () => ({ name: unique('made') }) },
  'POST /groups {at the top}': { body: () => ({ name: unique('made'), path: unique('made') }) },
  "POST /todos/:id/mark_as_done {another's}": { makes: [anothersTodo] },
};

const owned = (path: string): Record<string, Recipe> => ({
  [`PUT ${path}/notification_settings`]: { body: () => ({ level: 'watch' }) },
  [`GET ${path}/members/all/:user_id`]: { path: { user_id: 'master' } },
  [`GET ${path}/labels`]: { query: 'search=Marker', holds: is('label_id') },
  [`POST ${path}/labels`]: { body: () => ({ name: unique('label'), color: '#FFAABB' }) },
  [`PUT ${path}/labels`]: { makes: [freshLabel], body: ({ label }) => ({ name: label, color: '#FFAABB' }) },
  [`DELETE ${path}/labels`]: { makes: [freshLabel], query: 'name=:label' },
  [`PUT ${path}/labels/:label_id`]: { makes: [freshLabel], body: () => ({ color: '#FFAABB' }) },
  [`DELETE ${path}/labels/:label_id`]: { makes: [freshLabel] },
  [`POST ${path}/labels/:label_id/subscribe`]: { makes: [freshLabel] },
  [`POST ${path}/labels/:label_id/unsubscribe`]: { makes: [freshLabel, subscription] },
  [`GET ${path}/milestones`]: { query: 'iids[]=1', holds: is('milestone_id') },
  [`POST ${path}/milestones`]: { body: () => ({ title: unique('milestone') }) },
  [`PUT ${path}/milestones/:milestone_id`]: {
    makes: [freshMilestone],
    body: () => ({ state_event: 'close' }),
  },
  [`DELETE ${path}/milestones/:milestone_id`]: { makes: [freshMilestone] },
});

const groupRecipes: Record<string, Recipe> = {
  'GET /groups': { query: 'all_available=true&search=:group_path', holds: is('group') },
  'PUT /groups/:id': { makes: [freshGroup], body: () => ({ description: 'Other' }) },
  'DELETE /groups/:id': { makes: [freshGroup] },
  'POST /groups/:id/transfer': { makes: [freshGroup], body: () => ({}) },
  'POST /groups {below it}': {
    body: ({ group }) => ({
      name: unique('made'),
      path: unique('made'),
      parent_id: group,
      visibility: 'private',
    }),
  },
  'GET /groups/:id/subgroups': {
    query: 'all_available=true&per_page=100&order_by=id',
    holds: is('subgroup'),
  },
  'GET /groups/:id/descendant_groups': {
    query: 'all_available=true&per_page=100&order_by=id',
    holds: is('subgroup'),
  },
  'POST /projects {in it}': {
    body: ({ group }) => ({ name: unique('made'), namespace_id: group, visibility: 'private' }),
  },
  'GET /namespaces': { query: 'search=:group_path', holds: is('group') },
  'POST /groups/:id/members': {
    makes: [freshGroup],
    body: ({ newcomer }) => ({ user_id: newcomer, access_level: 10 }),
  },
  'PUT /groups/:id/members/:user_id': {
    makes: [freshGroup, newcomerAsMember],
    body: () => ({ access_level: 10 }),
  },
  'DELETE /groups/:id/members/:user_id': { makes: [freshGroup, newcomerAsMember] },
  ...owned('/groups/:id'),
};

const projectRecipes: Record<string, Recipe> = {
  [`PUT ${project}/labels/promote`]: { makes: [freshLabel], body: ({ label }) => ({ name: label }) },
  [`PUT ${project}/labels/:label_id/promote`]: { makes: [freshLabel] },
  [`POST ${project}/milestones/:milestone_id/promote`]: { makes: [freshMilestone] },
  'GET /projects': { query: 'search=:project_path', holds: is('project') },
  [`GET ${users}/projects`]: { path: { user_id: 'host' }, holds: is('personal') },
  'GET /groups/:id/projects': { holds: is('project') },
  'POST /markdown {of the project}': {
    body: ({ project_full_path }) => ({ text: 'A #1', gfm: true, project: project_full_path }),
  },
  [`PUT ${project} {description}`]: { makes: [freshProject], body: () => ({ description: 'Other' }) },
  [`PUT ${project} {name}`]: { makes: [freshProject], body: () => ({ name: unique('other') }) },
  [`PUT ${project} {path}`]: { makes: [freshProject], body: () => ({ path: unique('other') }) },
  [`PUT ${project} {visibility}`]: {
    makes: [freshProject],
    body: (_names, { place }) => ({
      visibility: place.situation.visibility === 'internal' ? 'public' : 'internal',
    }),
  },
  [`DELETE ${project}`]: { makes: [freshProject] },
  [`POST ${project}/archive`]: { makes: [freshProject] },
  [`POST ${project}/unarchive`]: { makes: [freshProject] },
  [`POST ${project}/members`]: {
    makes: [freshProject],
    body: ({ newcomer }) => ({ user_id: newcomer, access_level: 10 }),
  },
  [`PUT ${project}/members/:user_id`]: {
    makes: [freshProject, newcomerAsMember],
    body: () => ({ access_level: 10 }),
  },
  [`DELETE ${project}/members/:user_id`]: { makes: [freshProject, newcomerAsMember] },
  [`POST ${issues}`]: { body: () => ({ title: 'Made' }) },
  ...owned(project),
};

const text = () => ({ body: 'Other' });
const heart = () => ({ name: 'heart' });

/** Moves or clones it. */
const sendTo = (target: string): Recipe => ({
  makes: [freshIssue],
  body: (names) => ({ to_project_id: names[target] }),
});

const issueRecipes: Record<string, Recipe> = {
  'GET /issues': { query: 'scope=all&iids[]=:issue_iid&per_page=100', holds: is('issue_id') },
  'GET /groups/:id/issues': { query: 'iids[]=:issue_iid', holds: is('issue_id') },
  [`GET ${issues}`]: { query: 'iids[]=:issue_iid', holds: is('issue_id') },
  [`PUT ${issue} {title}`]: { makes: [freshIssue], body: () => ({ title: 'Other' }) },
  [`PUT ${issue} {close}`]: { makes: [freshIssue], body: () => ({ state_event: 'close' }) },
  [`PUT ${issue} {confidential}`]: {
    makes: [freshIssue],
    body: (_names, { state }) => ({ confidential: state !== 'confidential' }),
  },
  [`DELETE ${issue}`]: onIssue,
  [`POST ${issue}/move {to a project as reporter}`]: sendTo('haven'),
  [`POST ${issue}/move {to a project as guest}`]: sendTo('garden'),
  [`POST ${issue}/move {to a hidden project}`]: sendTo('vault'),
  [`POST ${issue}/clone {to a project as reporter}`]: sendTo('haven'),
  [`POST ${issue}/clone {to a project as guest}`]: sendTo('garden'),
  [`POST ${issue}/clone {to a hidden project}`]: sendTo('vault'),
  [`POST ${issue}/subscribe`]: onIssue,
  [`POST ${issue}/unsubscribe`]: onIssue,
  [`POST ${issue}/todo`]: onIssue,
  [`POST ${issue}/time_estimate`]: withDuration,
  [`POST ${issue}/reset_time_estimate`]: onIssue,
  [`POST ${issue}/add_spent_time`]: withDuration,
  [`POST ${issue}/reset_spent_time`]: onIssue,
  'GET /todos {on it}': {
    makes: [freshIssue, ownTodo],
    query: 'project_id=:project&per_page=100',
    holds: ({ target }, { issue_id }) => target?.id === issue_id,
  },
  'POST /todos/:id/mark_as_done {on it}': { makes: [freshIssue, ownTodo] },
  [`GET ${notes}`]: { holds: is('note_id') },
  [`POST ${notes}`]: { makes: [freshIssue], body: text },
  [`PUT ${note} {own}`]: { makes: [freshIssue, ownNote], body: text },
  [`PUT ${note} {another's}`]: { makes: [freshIssue, anothersNote], body: text },
  [`PUT ${note} {the service's}`]: { makes: [freshIssue, servicesNote], body: text },
  [`DELETE ${note} {own}`]: { makes: [freshIssue, ownNote] },
  [`DELETE ${note} {another's}`]: { makes: [freshIssue, anothersNote] },
  [`DELETE ${note} {the service's}`]: { makes: [freshIssue, servicesNote] },
  [`GET ${issue}/award_emoji`]: { holds: is('issue_award') },
  [`POST ${issue}/award_emoji`]: { makes: [freshIssue], body: heart },
  [`DELETE ${issue}/award_emoji/:award_id {own}`]: { makes: [freshIssue, ownAward] },
  [`DELETE ${issue}/award_emoji/:award_id {another's}`]: { makes: [freshIssue, anothersAward] },
  [`GET ${note}/award_emoji`]: { holds: is('note_award') },
  [`POST ${note}/award_emoji`]: { makes: [freshIssue, anothersNote], body: heart },
  [`DELETE ${note}/award_emoji/:award_id {own}`]: { makes: [freshIssue, anothersNote, ownNoteAward] },
  [`DELETE ${note}/award_emoji/:award_id {another's}`]: {
    makes: [freshIssue, anothersNote, anothersNoteAward],
  },
};

/** By the name of the row. A row without a recipe sends only its path. */
export const recipes: Record<string, Recipe> = {
  ...instanceRecipes,
  ...groupRecipes,
  ...projectRecipes,
  ...issueRecipes,
  ...moreRecipes,
  ...snippetNoteRecipes,
  ...boardRecipes,
  ...starRecipes,
  ...smallCallRecipes,
  ...avatarRecipes,
  ...threadedRecipes,
  ...mergeRecipes,
  ...codeRecipes,
  ...requestRecipes,
  ...variableRecipes,
  ...hookRecipes,
  ...jobRecipes,
  ...jobTokenRecipes,
  ...artifactRecipes,
  ...pipelineRecipes,
  ...runnerApiRecipes,
  ...scheduleRecipes,
  ...environmentRecipes,
  ...eventRecipes,
  ...searchRecipes,
  ...ciRecipes,
};

/** The value of `:id`, by the first word of the path. */
const ids: Record<string, string> = {
  projects: 'project',
  groups: 'group',
  namespaces: 'group',
  users: 'user',
  suggestions: 'suggestion',
  todos: 'todo',
  personal_access_tokens: 'token',
  keys: 'key_id',
  snippets: 'snippet_id',
  applications: 'application',
};

const keyOf = (param: string, path: string): string => {
  if (param === 'id') return ids[path.split('/')[1] ?? ''] ?? param;
  if (param === 'award_id') return path.includes('/notes/') ? 'note_award' : 'issue_award';
  return param;
};

const filled = (template: string, names: Names, keys: (param: string) => string): string =>
  template.replaceAll(/:([a-z_]+)/g, (_whole, param: string) => {
    const value = names[keys(param)];
    if (value === undefined) throw new Error(`${template}: nothing is named ${keys(param)}`);
    return encodeURIComponent(value);
  });

/** The path below `/api/v4` of a row's request, with its query. */
export const pathOf = ({ row, names }: Pick<Cell, 'row' | 'names'>): string => {
  const { path: own = {}, query } = recipes[row.name] ?? {};
  const path = filled(row.path, names, (param) => own[param] ?? keyOf(param, row.path));
  return query === undefined ? path : `${path}?${filled(query, names, (param) => param)}`;
};
