/**
 * A machine for the commands that the documents give for systemd: folders of the test stand for those of the documents,
 * `systemd-run` and `systemctl` are programs of the test, and user gantry is a user id without a name. Needs root.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
export const [uid, gid] = [12_345, 12_346];

/** Folders of the documents that this machine has elsewhere. */
const folders =
  /\/(?:var\/lib\/gantry(?:-repositories)?|etc\/gantry|etc\/systemd\/system|srv\/backups|usr\/local\/s?bin)(?=[/\s'"]|\.old|$)/g;

export type Machine = {
  home: string;
  /** Path of a file of the documents on this machine. */
  onMachine: (text: string) => string;
  /** Runs commands of a document to their end. */
  run: (script: string) => Promise<string>;
  remove: () => void;
};

const asUser = `setpriv --reuid=${uid} --regid=${gid} --clear-groups env -i PATH="$PATH"`;

/** `systemctl start` and `enable --now` start `gantry-gitd` as its unit says; of `gantry` they only write it down. */
const programsOf = (home: string): Record<string, string> => ({
  useradd: `echo "$*" >> '${home}/useradd.log'`,
  install: `
args=()
for one in "$@"; do
  if [ "$one" = gantry ]; then case "\${args[-1]}" in -o) one=${uid} ;; -g) one=${gid} ;; esac; fi
  args+=("$one")
done
exec /usr/bin/install "\${args[@]}"`,
  'systemd-run': `
settings=()
while [ "\${1#--}" != "$1" ]; do
  case "$1" in
    --property=EnvironmentFile=-*) while IFS= read -r line; do settings+=("$line"); done < "\${1#*=*=-}" ;;
    --setenv=*) settings+=("\${1#--setenv=}") ;;
    --quiet|--collect|--wait|--pipe|--uid=gantry|--gid=gantry) ;;
    *) echo "no option $1" >&2; exit 1 ;;
  esac
  shift
done
cd /
exec ${asUser} "\${settings[@]}" "$@"`,
  systemctl: `
echo "$*" >> '${home}/systemctl.log'
case "$*" in 'enable --now gantry-gitd') ;; *) exit 0 ;; esac
unit='${home}/etc/systemd/system/gantry-gitd.service'
set -a; . '${home}/etc/gantry/gitd.env'; set +a
/usr/bin/install -d -m 0700 -o ${uid} -g ${gid} '${home}/var/lib/gantry-repositories'
command="$(sed -n '/^ExecStart=/{:more;/\\\\$/{N;s/\\\\\\n//;bmore};s/^ExecStart=//;p}' "$unit")"
command="\${command//'\${LISTEN}'/$LISTEN}"
${asUser} GANTRY_GITD_SECRET="$GANTRY_GITD_SECRET" $command > '${home}/gitd.log' 2>&1 < /dev/null &
echo $! > '${home}/gitd.pid'
until grep -q 'answers on' '${home}/gitd.log'; do kill -0 $! 2> /dev/null || { cat '${home}/gitd.log' >&2; exit 1; }; sleep 0.1; done`,
});

export const makeMachine = (): Machine => {
  const home = mkdtempSync(join(tmpdir(), 'gantry-machine-'));
  chmodSync(home, 0o755);
  for (const folder of ['bin', 'etc/systemd/system', 'srv', 'usr/local/sbin', 'usr/local/bin', 'var/lib'])
    mkdirSync(join(home, folder), { recursive: true, mode: 0o755 });
  const write = (file: string, code: string): void =>
    writeFileSync(join(home, file), `#!/bin/bash\n${code}\n`, { mode: 0o755 });
  for (const [name, code] of Object.entries(programsOf(home))) write(`bin/${name}`, code);
  write('usr/local/bin/gantry', `exec '${process.execPath}' '${root}/bin/gantry' "$@"`);
  const onMachine = (text: string): string =>
    text.replaceAll(folders, `${home}$&`).replaceAll('/opt/gantry', root);

  /** Puts the folders of this machine into what was copied from `deploy`. */
  const adapt = (): void => {
    for (const folder of ['usr/local/sbin', 'etc/systemd/system'].map((one) => join(home, one))) {
      for (const name of readdirSync(folder)) {
        const text = readFileSync(join(folder, name), 'utf8');
        if (!text.includes(home)) writeFileSync(join(folder, name), onMachine(text));
      }
    }
  };
  const runLine = async (line: string): Promise<string> => {
    const path = ['bin', 'usr/local/sbin', 'usr/local/bin'].map((folder) => join(home, folder));
    const child = spawn('bash', ['-euo', 'pipefail', '-c', onMachine(line)], {
      cwd: home,
      env: { PATH: [...path, process.env['PATH']].join(':') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => void (output += part));
    const [code] = await once(child, 'exit');
    assert.equal(code, 0, `${line}\n${output}`);
    adapt();
    return output;
  };
  return {
    home,
    onMachine,
    run: async (script) => {
      let output = '';
      for (const line of script.split('\n').filter((one) => one.trim() !== '')) output += await runLine(line);
      return output;
    },
    remove: () => {
      const pid = join(home, 'gitd.pid');
      if (existsSync(pid)) spawnSync('kill', [readFileSync(pid, 'utf8').trim()]);
      rmSync(home, { recursive: true, force: true });
    },
  };
};

/** Lists the code of a document, without prompts, in its order. */
const listBlocks = (file: string): string[] =>
  [...readFileSync(join(root, 'docs', file), 'utf8').matchAll(/^ *```(?:sh|console)\n([^]*?)^ *```/gm)].map(
    ([, code = '']) => code.replaceAll(/^ *(?:\$ )?/gm, ''),
  );

/** The code of a document that has some words. */
export const blockOf = (file: string, words: string): string => {
  const block = listBlocks(file).find((one) => one.includes(words));
  assert.ok(block !== undefined, `${file} has no block with ${words}`);
  return block;
};
