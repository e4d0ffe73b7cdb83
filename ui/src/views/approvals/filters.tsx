/** The choice of agent, tool and age above the inbox. */

import type { WaitRow } from "../../api/wire";
import { Choice } from "../../frame/choice";
import { AGES, choices, type Age, type Filter } from "./filter";

type Shown = { rows: readonly WaitRow[]; filter: Filter; choose: (filter: Filter) => void };

export function Filters({ rows, filter, choose }: Shown) {
  const { agents, tools } = choices(rows, filter);
  return (
    <div class="filters" role="group" aria-label="Filter">
      <Choice name="Agent" options={agents} value={filter.agent} choose={(agent) => choose({ ...filter, agent })} />
      <Choice name="Tool" options={tools} value={filter.tool} choose={(tool) => choose({ ...filter, tool })} />
      <Choice
        name="Age"
        options={Object.keys(AGES)}
        value={filter.age}
        choose={(age) => choose({ ...filter, age: age as Age | undefined })}
      />
    </div>
  );
}
