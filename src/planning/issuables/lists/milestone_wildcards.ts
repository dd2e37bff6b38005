/** The words that lists take in place of a milestone: `None`, `Any`, `#upcoming`, `#started`. */
import { type RawBuilder, sql } from 'kysely';
import { type Listed, column } from './record_kinds.ts';

type Condition = RawBuilder<boolean>;

/** Returns whether a word is one of these, case-insensitive. */
export const among = (words: string[]) => {
  return (word: string): boolean => words.includes(word.toLowerCase());
};
const isNoMilestone = among(['none', 'no milestone']);
const isAnyMilestone = among(['any', 'any milestone']);
export const isMilestoneWord = (word: string): boolean =>
  isNoMilestone(word) || isAnyMilestone(word) || among(['#upcoming', '#started'])(word);

export type MilestoneContext = {
  today: string;
  /** Over `milestones`: milestones that the listed records may have. */
  milestones: () => Condition;
};

/** Selects the milestone that is due next, started or not, in each project and each group. */
const nextDue = ({ today, milestones }: MilestoneContext) => sql`select id from (
  select id, row_number() over (partition by project_id, group_id order by due_date, id) as place
  from milestones where ${milestones()} and state = 'active' and due_date > ${today}) as coming
  where place = 1`;

const startedBy = ({ today, milestones }: MilestoneContext) => sql`select id from milestones
  where ${milestones()} and state = 'active' and start_date <= ${today}`;

/** Accepted values of the parameter `milestone_id`, and the equivalent values of `milestone`. */
export const milestoneIdWords = ['None', 'Any', 'Upcoming', 'Started'] as const;
export type MilestoneWord = (typeof milestoneIdWords)[number];
const titleWords = { None: 'None', Any: 'Any', Upcoming: '#upcoming', Started: '#started' } as const;

/** @param filters of a list, by a milestone's title or by words in place of its id */
export const milestoneWords = (
  kind: Listed,
  { milestone = '', milestone_id }: { milestone?: string; milestone_id?: number | MilestoneWord },
  context: MilestoneContext,
): Condition[] => {
  const byId = typeof milestone_id === 'string' ? titleWords[milestone_id] : '';
  return [milestone, byId].flatMap((word) => milestoneCondition(kind, word, context));
};

const milestoneCondition = (kind: Listed, milestone: string, context: MilestoneContext): Condition[] => {
  const id = column(kind, 'milestone_id');
  if (isNoMilestone(milestone)) return [sql`${id} is null`];
  if (isAnyMilestone(milestone)) return [sql`${id} is not null`];
  switch (milestone.toLowerCase()) {
    case '#upcoming':
      return [sql`${id} in (${nextDue(context)})`];
    case '#started':
      return [sql`${id} in (${startedBy(context)})`];
    default:
      return [];
  }
};
