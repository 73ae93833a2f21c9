"""A visitor who starts long jobs: it presses buttons, uploads files and polls the progress."""

from __future__ import annotations

import secrets
import urllib.request
from http.cookies import SimpleCookie
from typing import Any

from bench.visitor import AppSession

REFUSAL = "headlight-refusal"  # CSS class of an error message
XSRF = "_streamlit_xsrf"  # Streamlit's cookie for uploads


class BusyVisitor(AppSession):
    """A visitor who uses controls.

    ``progress`` is the text of the page's latest progress bar, ``refusal`` its latest error message.
    """

    def __init__(self, socket: Any) -> None:
        super().__init__(socket)
        self._buttons: dict[str, tuple[str, str]] = {}  # label -> (id, id of its fragment)
        self.pictures = 0  # figures received since the page was opened
        self.refusal = ""
        self._place = self._uploader = self._session = self._watching = self.progress = ""

    def see(self, page: str = "", **query: object) -> int:
        """Open a page with a query, and reset the number of figures."""
        self.pictures = 0
        return super().see(page, **query)

    def press(self, label: str) -> None:
        """Click the button with this label."""
        from streamlit.proto.BackMsg_pb2 import BackMsg

        (widget, fragment), ask = self._buttons[label], BackMsg()
        ask.rerun_script.page_script_hash, ask.rerun_script.fragment_id = self._place, fragment
        ask.rerun_script.widget_states.widgets.add(id=widget, trigger_value=True)
        self._run(ask)

    def has_button(self, label: str) -> bool:
        """Return True if a page has had a button with this label."""
        return label in self._buttons

    def look(self) -> None:
        """Rerun the page's automatically rerunning fragment, or the page if there is none."""
        from streamlit.proto.BackMsg_pb2 import BackMsg

        ask = BackMsg()
        ask.rerun_script.page_script_hash, ask.rerun_script.fragment_id = self._place, self._watching
        self._run(ask)

    def bring(self, url: str, name: str, content: bytes) -> None:
        """Upload a file by the page's file uploader."""
        from streamlit.proto.BackMsg_pb2 import BackMsg
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        ask, answer = BackMsg(), ForwardMsg()
        ask.file_urls_request.request_id = "bench"
        ask.file_urls_request.file_names.append(name)
        ask.file_urls_request.session_id = self._session
        self._socket.send(ask.SerializeToString())
        while answer.WhichOneof("type") != "file_urls_response":
            answer = ForwardMsg()
            answer.ParseFromString(self._socket.recv(timeout=60))
        places = answer.file_urls_response.file_urls[0]
        send(url, places.upload_url, name, content)
        ask = BackMsg()
        ask.rerun_script.page_script_hash = self._place
        state = ask.rerun_script.widget_states.widgets.add(id=self._uploader).file_uploader_state_value
        state.uploaded_file_info.add(name=name, size=len(content), file_id=places.file_id, file_urls=places)
        self._run(ask)

    def _take(self, message: Any) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._session = message.new_session.initialize.session_id
        if kind == "navigation":
            self._place = message.navigation.page_script_hash
        if kind == "auto_rerun":
            self._watching = message.auto_rerun.fragment_id
        if kind == "stop_auto_rerun":
            self._watching = ""
        super()._take(message)

    def _note(self, delta: Any) -> None:
        super()._note(delta)
        element, kind = delta.new_element, delta.new_element.WhichOneof("type")
        if kind == "button":
            self._buttons[element.button.label] = element.button.id, delta.fragment_id
        if kind == "html" and REFUSAL in element.html.body:
            self.refusal = element.html.body
        if kind == "file_uploader":
            self._uploader = element.file_uploader.id
        self.pictures += kind == "plotly_chart"
        if kind == "progress":
            self.progress = element.progress.text


def send(url: str, address: str, name: str, content: bytes) -> None:
    """Send a file to the upload address like a browser."""
    with urllib.request.urlopen(f"{url}/_stcore/health", timeout=60) as answer:
        token = SimpleCookie(answer.headers.get("Set-Cookie", ""))[XSRF].value
    border = secrets.token_hex(16)
    head = f'--{border}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = head.encode() + content + f"\r\n--{border}--\r\n".encode()
    headers = {
        "Content-Type": f"multipart/form-data; boundary={border}",
        "Cookie": f"{XSRF}={token}",
        "X-Xsrftoken": token,
    }
    asked = urllib.request.Request(f"{url}{address}", body, headers, method="PUT")
    with urllib.request.urlopen(asked, timeout=120) as answer:
        answer.read()
