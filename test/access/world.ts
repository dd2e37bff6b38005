/** The places of the matrix: a project and a group of each kind, with every person in their role. */
import { toIndividualId } from '../../src/planning/discussions/discussion_id.ts';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { seedGroup, seedProject, seedUser, setIids } from '../support/seed.ts';
import type { TestService } from '../support/service.ts';
import type { IssueState, Situation, Visibility } from './expected.ts';
import { type People, makePeople } from './people.ts';
import {
  type Above,
  type MemberRow,
  insertAssignees,
  insertAwards,
  insertGroups,
  insertIssues,
  insertLabels,
  insertMembers,
  insertMilestones,
  insertNotes,
  insertProjects,
  insertRequests,
} from './makers/bulk_rows.ts';

type Made = Above & { path: string };

/** Names for paths and bodies. */
export type Names = { [name: string]: number | string };

export type Place = {
  situation: Omit<Situation, 'issue'>;
  /** `project`, `group`, `label_id`...: names for requests that change nothing. */
  names: Names;
  /** An issue of each state, with a note and awards; one by another author for a guest. */
  issues: Map<IssueState, { usual: Names; of_guest: Names }>;
  /** Merge requests in the same way. */
  requests: Map<IssueState, { usual: Names; of_guest: Names }>;
  /** Returns the next iid. */
  iids: { issue: number; milestone: number; merge_request: number };
};

export type World = {
  gantry: TestService;
  people: People;
  /** A public group owned by `owner`, for records of single requests. */
  top: Above;
  /** People with a role in a project of their own. */
  team: MemberRow[];
  /** Names that fit everywhere: of users, and projects to move to. */
  names: Names;
};

const past = '2017-01-01';

/** People with a role in the project itself; reporters, master and owner inherit theirs. */
const directly = ({ idOf }: People): MemberRow[] => [
  { user_id: idOf('guest'), access_level: 10 },
  { user_id: idOf('guest and author'), access_level: 10 },
  { user_id: idOf('guest and assignee'), access_level: 10 },
  { user_id: idOf('developer'), access_level: 30 },
  { user_id: idOf('former master'), access_level: 40, expires_at: past },
];

const fromAbove = ({ idOf }: People): MemberRow[] => [
  { user_id: idOf('reporter'), access_level: 20 },
  { user_id: idOf('external reporter'), access_level: 20 },
  { user_id: idOf('master'), access_level: 40 },
];

const owners = ({ idOf }: People): MemberRow[] => [
  { user_id: idOf('owner'), access_level: 50 },
  { user_id: idOf('blocked owner'), access_level: 50 },
];

export const makeWorld = async (gantry: TestService): Promise<World> => {
  const people = await makePeople(gantry);
  const { store } = gantry.service.platform;
  const top = await seedGroup(gantry);
  const [haven, garden, vault] = [
    await seedProject(gantry),
    await seedProject(gantry),
    await seedProject(gantry, { visibility: 'private' }),
  ];
  const everybody = [...new Set([...people.all.values()].map(({ user_id }) => user_id))].filter(
    (id) => id !== null,
  );
  const admin = people.idOf('admin');
  const as = (access_level: number) =>
    everybody.filter((id) => id !== admin).map((user_id) => ({ user_id, access_level }));
  await store.write(async (tx) => {
    await insertMembers(tx, ['Namespace', [top.id]], owners(people));
    await insertMembers(tx, ['Project', [haven.id]], as(20));
    await insertMembers(tx, ['Project', [garden.id]], as(10));
  });
  return {
    gantry,
    people,
    top,
    team: [...directly(people), ...fromAbove(people)],
    names: {
      writer: people.writer,
      newcomer: people.newcomer,
      developer: people.idOf('developer'),
      master: people.idOf('master'),
      haven: haven.id,
      garden: garden.id,
      vault: vault.id,
    },
  };
};

/** A personal project, for the list of a user's projects; its owner occurs nowhere else. */
const personalProject = async ({ gantry, people }: World, visibility: Visibility): Promise<Names> => {
  const host = await seedUser(gantry);
  const project = await seedProject(gantry, { owner: host.id, visibility });
  const members = [...directly(people), ...fromAbove(people), ...owners(people)];
  await gantry.service.platform.store.write(
    async (tx) => await insertMembers(tx, ['Project', [project.id]], members),
  );
  return { host: host.id, personal: project.id };
};

const states: IssueState[] = ['plain', 'confidential', 'deleted'];

const issuesOf = async (world: World, place: Place, project_id: number): Promise<void> => {
  const { people, gantry } = world;
  const { writer, idOf } = people;
  const authors = [idOf('author'), idOf('guest and author')];
  const plan = states.flatMap((issue) => authors.map((author_id) => ({ issue, author_id })));
  await gantry.service.platform.store.write(async (tx) => {
    const rows = plan.map(({ issue, author_id }) => ({
      project_id,
      iid: (place.iids.issue += 1),
      author_id,
      confidential: issue === 'confidential' ? (1 as const) : (0 as const),
      deleted: issue === 'deleted',
    }));
    const ids = await insertIssues(tx, rows);
    const assignees = [idOf('assignee'), idOf('guest and assignee')];
    await insertAssignees(
      tx,
      ids
        .filter((_id, at) => at % 2 === 0)
        .flatMap((target_id) => assignees.map((user_id) => ({ target_id, user_id }))),
    );
    const notes = await insertNotes(
      tx,
      ids.map((target_id) => ({ project_id, target_id, author_id: writer, system: 0 })),
    );
    const awards = await insertAwards(
      tx,
      ids.map((target_id) => ({ target_type: 'Issue', target_id, user_id: writer })),
    );
    const noteAwards = await insertAwards(
      tx,
      notes.map((target_id) => ({ target_type: 'Note', target_id, user_id: writer })),
    );
    await tx.db
      .insertInto('user_agent_details')
      .values(
        ids.map((target_id) => ({
          target_type: 'Issue',
          target_id,
          user_agent: 'curl',
          ip_address: '127.0.0.1',
        })),
      )
      .execute();
    await setIids(tx.db, project_id, place.iids);
    const names = (at: number): Names => ({
      issue_id: ids[at] ?? 0,
      issue_iid: rows[at]?.iid ?? 0,
      note_id: notes[at] ?? 0,
      discussion_id: toIndividualId(notes[at] ?? 0),
      issue_award: awards[at] ?? 0,
      note_award: noteAwards[at] ?? 0,
    });
    states.forEach((state, at) =>
      place.issues.set(state, { usual: names(at * 2), of_guest: names(at * 2 + 1) }),
    );
  });
};

const requestsOf = async (world: World, place: Place, project_id: number): Promise<void> => {
  const { people, gantry } = world;
  const { writer, idOf } = people;
  const authors = [idOf('author'), idOf('guest and author')];
  const found = states.filter((state) => state !== 'confidential');
  const plan = found.flatMap((state) => authors.map((author_id) => ({ state, author_id })));
  await gantry.service.platform.store.write(async (tx) => {
    const rows = plan.map(({ state, author_id }) => ({
      project_id,
      iid: (place.iids.merge_request += 1),
      author_id,
      deleted: state === 'deleted',
    }));
    const ids = await insertRequests(tx, rows);
    const target_type = 'MergeRequest' as const;
    const assignees = [idOf('assignee'), idOf('guest and assignee')];
    const assigned = ids
      .filter((_id, at) => at % 2 === 0)
      .flatMap((target_id) => assignees.map((user_id) => ({ target_type, target_id, user_id })));
    await insertAssignees(tx, assigned);
    const noted = { target_type, project_id, author_id: writer, system: 0 as const };
    const notes = await insertNotes(
      tx,
      ids.map((target_id) => ({ ...noted, target_id })),
    );
    const awards = await insertAwards(
      tx,
      ids.map((target_id) => ({ target_type, target_id, user_id: writer })),
    );
    const noteAwards = await insertAwards(
      tx,
      notes.map((target_id) => ({ target_type: 'Note', target_id, user_id: writer })),
    );
    const names = (at: number): Names => ({
      merge_request_id: ids[at] ?? 0,
      merge_request_iid: rows[at]?.iid ?? 0,
      note_id: notes[at] ?? 0,
      discussion_id: toIndividualId(notes[at] ?? 0),
      issue_award: awards[at] ?? 0,
      note_award: noteAwards[at] ?? 0,
    });
    found.forEach((state, at) =>
      place.requests.set(state, { usual: names(at * 2), of_guest: names(at * 2 + 1) }),
    );
  });
};

/** A project in a group of the same visibility. */
export const makePlace = async (world: World, situation: Omit<Situation, 'issue'>): Promise<Place> => {
  const { gantry, people, top } = world;
  const { visibility, archived = false } = situation;
  const { store } = gantry.service.platform;
  const { group, project, owned } = await store.write(async (tx) => {
    const [made] = (await insertGroups(tx, top, 1, visibility)) as [Made];
    const [inIt] = (await insertProjects(tx, made, 1, { ...situation, archived })) as [Made];
    await insertMembers(
      tx,
      ['Namespace', [made.id]],
      [...fromAbove(people), { user_id: people.idOf('former master'), access_level: 40, expires_at: past }],
    );
    await insertMembers(tx, ['Project', [inIt.id]], directly(people));
    const owner = { project_id: inIt.id, group_id: null };
    const [label_id = 0] = await insertLabels(tx, [{ ...owner, title: 'Marker' }]);
    const [milestone_id = 0] = await insertMilestones(tx, [{ ...owner, iid: 1 }]);
    return { group: made, project: inIt, owned: { label_id, milestone_id } };
  });
  const names = {
    ...world.names,
    ...owned,
    ...(await personalProject(world, visibility)),
    group: group.id,
    project: project.id,
    project_path: project.path,
    project_full_path: project.full_path,
    user_id: people.idOf('developer'),
  };
  const files = {
    'README.md': 'Made\n',
    '.gitlab/issue_templates/Made.md': 'Made\n',
    '.gitlab/merge_request_templates/Made.md': 'Made\n',
  };
  const place: Place = {
    situation,
    names: { ...names, branch: 'main', sha: await seedCommit(gantry, project.id, files) },
    issues: new Map(),
    requests: new Map(),
    iids: { issue: 0, milestone: 1, merge_request: 0 },
  };
  await issuesOf(world, place, project.id);
  await requestsOf(world, place, project.id);
  return place;
};

/** A group with a subgroup and a project. Some people inherit their role from the group above. */
export const makeGroupPlace = async (world: World, visibility: Visibility): Promise<Place> => {
  const { gantry, people, top } = world;
  const names = await gantry.service.platform.store.write(async (tx) => {
    const [above] = (await insertGroups(tx, top, 1, 'public')) as [Made];
    const [group] = (await insertGroups(tx, above, 1, visibility)) as [Made];
    const [subgroup] = (await insertGroups(tx, group, 1, visibility)) as [Made];
    const [project] = (await insertProjects(tx, group, 1, { visibility })) as [Made];
    await insertMembers(tx, ['Namespace', [above.id]], fromAbove(people));
    await insertMembers(tx, ['Namespace', [group.id]], directly(people));
    await insertMembers(
      tx,
      ['Project', [project.id]],
      [{ user_id: people.idOf('member of a project below'), access_level: 30 }],
    );
    const owner = { project_id: null, group_id: group.id };
    const [label_id = 0] = await insertLabels(tx, [{ ...owner, title: 'Marker' }]);
    const [milestone_id = 0] = await insertMilestones(tx, [{ ...owner, iid: 1 }]);
    return {
      group: group.id,
      group_path: group.path,
      group_full_path: group.full_path,
      subgroup: subgroup.id,
      label_id,
      milestone_id,
    };
  });
  const situation = { visibility, issues: 'enabled' } as const;
  const user_id = people.idOf('developer');
  return {
    situation,
    names: { ...world.names, ...names, user_id },
    issues: new Map(),
    requests: new Map(),
    iids: { issue: 0, milestone: 1, merge_request: 0 },
  };
};
