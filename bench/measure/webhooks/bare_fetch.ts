/** The bare limit of a delivery: posts as much with `fetch`, so many times, and prints µs of CPU of each. */
const [url = '', count = '0'] = process.argv.slice(2);
const body = JSON.stringify({ text: 'x'.repeat(2_000) });

const post = async (): Promise<void> => {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });
  await response.text();
};

for (let at = 0; at < 50; at += 1) await post(); // warm
const before = process.cpuUsage();
for (let at = 0; at < Number(count); at += 1) await post();
const { user, system } = process.cpuUsage(before);
console.log((user + system) / Number(count));
