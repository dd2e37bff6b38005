import { formatDuration } from '../../platform/duration.ts';
import { int, nullable, object, string } from '../../platform/http/schema.ts';

export const timeStatsShape = object({
  time_estimate: int,
  total_time_spent: int,
  human_time_estimate: nullable(string),
  human_total_time_spent: nullable(string),
});

/** The four-field time stats; seconds. */
export const timeStats = ({
  time_estimate,
  total_time_spent,
}: {
  time_estimate: number;
  total_time_spent: number;
}) => ({
  time_estimate,
  total_time_spent,
  human_time_estimate: formatDuration(time_estimate),
  human_total_time_spent: formatDuration(total_time_spent),
});
