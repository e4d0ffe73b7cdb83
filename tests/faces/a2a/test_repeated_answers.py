"""A client of A2A that lost a response sends its answers again, also after the end of the task."""

from tests.faces.a2a.test_routes import APP, logged, message, refusal, result, waits
from tests.support.in_process.live_server import Serve
from tests.web.responses.test_problems import MEMORY


@MEMORY
async def test_a_repeated_answer_leads_to_the_same_part(serve: Serve) -> None:
    server = await serve(APP)
    task = (await result(server, "in_turn", "SendMessage", message("go")))["task"]
    first = message({"data": {"waitId": waits(task)["First?"], "value": "one"}}, taskId=task["id"])
    second = [(await result(server, "in_turn", "SendMessage", first))["task"] for _ in range(2)]
    assert [list(waits(each)) for each in second] == [["Second?"]] * 2
    code, said = await refusal(server, "in_turn", message("x", contextId=task["contextId"]))
    assert (code, "`taskId`" in said) == (-32004, True), "a new task would wait behind this one"
    done = (await result(server, "in_turn", "SendMessage", message("two", taskId=task["id"])))["task"]
    assert done["artifacts"][0]["parts"] == [{"text": "one two"}]
    assert len(await logged(server, task["id"], "wait.answered")) == 2


@MEMORY
async def test_an_answer_that_is_repeated_after_the_end_leads_to_the_same_part(serve: Serve) -> None:
    server = await serve(APP)
    task = (await result(server, "in_turn", "SendMessage", message("go")))["task"]
    first = message({"data": {"waitId": waits(task)["First?"], "value": "one"}}, taskId=task["id"])
    middle = (await result(server, "in_turn", "SendMessage", first))["task"]
    last = message({"data": {"waitId": waits(middle)["Second?"], "value": "two"}}, taskId=task["id"])
    done = (await result(server, "in_turn", "SendMessage", last))["task"]
    assert done["status"]["state"] == "TASK_STATE_COMPLETED"
    assert (await result(server, "in_turn", "SendMessage", last))["task"] == done
    assert (await result(server, "in_turn", "SendMessage", first))["task"]["status"] == middle["status"]
    code, said = await refusal(server, "in_turn", message("two", taskId=task["id"]))
    assert (code, "has ended" in said) == (-32004, True), "it may be another message"


@MEMORY
async def test_a_decision_that_is_repeated_after_the_end_has_no_effect(serve: Serve) -> None:
    server = await serve(APP)
    task = (await result(server, "payer", "SendMessage", message("go")))["task"]
    [wait_id] = waits(task).values()
    answer = message({"data": {"waitId": wait_id, "approved": True, "editedArgs": {"amount": 7}}}, taskId=task["id"])
    done, again = [(await result(server, "payer", "SendMessage", answer))["task"] for _ in range(2)]
    assert done == again
    assert (done["status"]["state"], done["artifacts"][0]["parts"]) == ("TASK_STATE_COMPLETED", [{"text": "paid 7"}])


@MEMORY
async def test_an_answer_that_was_never_recorded_is_refused_after_the_end(serve: Serve) -> None:
    server = await serve(APP)
    task = (await result(server, "in_turn", "SendMessage", message("go")))["task"]
    answer = message({"data": {"waitId": waits(task)["First?"], "value": "one"}}, taskId=task["id"])
    await result(server, "in_turn", "CancelTask", {"id": task["id"]})
    code, said = await refusal(server, "in_turn", answer)
    assert (code, "has ended" in said) == (-32004, True)
