// Echoes WebSocket messages with gorilla/websocket, in one frame or, at /fragments, in several.
// Prints its port, and after each connection the counts of connections, texts, binary messages and bytes.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"

	"github.com/gorilla/websocket"
)

var (
	lock   sync.Mutex
	counts [4]int
)

func count(add [4]int, show bool) {
	lock.Lock()
	defer lock.Unlock()
	for at := range counts {
		counts[at] += add[at]
	}
	if show {
		fmt.Println(counts[0], counts[1], counts[2], counts[3])
	}
}

// send writes a message through a buffer of 512 bytes, so that longer ones are cut into frames.
func send(connection *websocket.Conn, kind int, message []byte) error {
	writer, err := connection.NextWriter(kind)
	if err != nil {
		return err
	}
	for len(message) > 0 {
		length := min(len(message), 400)
		if _, err := writer.Write(message[:length]); err != nil {
			return err
		}
		message = message[length:]
	}
	return writer.Close()
}

func echo(answer http.ResponseWriter, request *http.Request) {
	upgrader := websocket.Upgrader{
		WriteBufferSize:   512,
		Subprotocols:      []string{"echo.v2"},
		EnableCompression: true,
	}
	connection, err := upgrader.Upgrade(answer, request, nil)
	if err != nil {
		return
	}
	defer connection.Close()
	defer count([4]int{1, 0, 0, 0}, true)
	for {
		kind, message, err := connection.ReadMessage()
		if err != nil {
			return
		}
		add := [4]int{0, 0, 0, len(message)}
		add[kind] = 1
		count(add, false)
		if request.URL.Path == "/fragments" {
			err = send(connection, kind, message)
		} else {
			err = connection.WriteMessage(kind, message)
		}
		if err != nil {
			return
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	http.Serve(listener, http.HandlerFunc(echo))
}
